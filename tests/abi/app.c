/* SPDX-License-Identifier: MIT */
/* What an app does first, built against the installed library alone. */
#include <ggld/ggld.h>

#include <stdio.h>
#include <string.h>

static int fail(const char *expected, const ggld_error *err)
{
    printf("expected: %s; got: %s\n", expected, err->message);
    return 1;
}

int main(void)
{
    /* Version 3, no tensors, no key-values. */
    static const unsigned char empty[24] = { 'G', 'G', 'U', 'F', 3 };
    static const unsigned char q8_0[34] = { 0x00, 0x3C, 7 }; /* d is 1.0 */
    ggld_error err = { 0 };
    ggld_file *file = NULL;
    float values[32];

    if (ggld_open_memory(&file, empty, sizeof empty, NULL, &err) != GGLD_OK)
        return fail("an empty model opens", &err);
    uint64_t n = ggld_tensor_count(file);
    ggld_close(file);

    if (ggld_dequantize_f32(GGLD_TYPE_Q8_0, q8_0, sizeof q8_0, values, 32,
                            &err) != GGLD_OK)
        return fail("a block is dequantised", &err);
    if (n != 0 || values[0] != 7.0f || values[1] != 0.0f) {
        printf("expected: 0 tensors, 7 and 0; got: %d, %g and %g\n", (int)n,
               values[0], values[1]);
        return 1;
    }
    uint32_t version = ggld_version();
    printf("%u.%u.%u %s\n", version >> 16, version >> 8 & 0xFF, version & 0xFF,
           ggld_instruction_set());
    return 0;
}
