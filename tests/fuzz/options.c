/* SPDX-License-Identifier: MIT */
/* Any text as the values of the command's options: a size, a number, a type,
 * GLOB=TYPE, and lines of the list of --order. Each parser has it as it is;
 * what is taken is the same when it is written and read again, and is what a
 * second opinion, which reckons with digits and not with numbers, takes. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include <ggld/types.h>

#include "../../tools/keep.h"
#include "../../tools/opts.h"
#include "../../tools/order.h"
#include "../../tools/text.h"
#include "fuzz.h"

#define DIGITS "0123456789"
/* That a refused call was given, and must not have changed. */
#define BEFORE UINT64_C(0x5A5A5A5A5A5A5A5A)

static char *text_of(const uint8_t *data, size_t size)
{
    char *text = fuzz_alloc(size + 1);

    if (size != 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* ---- sizes and numbers ---- */

/* n digits, of any number: is it that number, or a smaller one? */
static int compare_digits(const char *digits, size_t n, uint64_t number)
{
    char other[24];
    size_t n_other = (size_t)snprintf(other, sizeof other, "%" PRIu64, number);

    while (n > 1 && *digits == '0') {
        digits++;
        n--;
    }
    return n != n_other ? (n > n_other) - (n < n_other)
                        : memcmp(digits, other, n);
}

/* Bits that a unit shifts by; 1, which none does: it is no unit. */
static unsigned unit_shift(const char *text)
{
    static const char *const units[] = { "", "K", "M", "G", "T" };

    for (unsigned i = 0; i < 5; i++)
        if (strcmp(text, units[i]) == 0)
            return 10 * i;
    return 1;
}

static bool expect_size(const char *text, unsigned *shift)
{
    size_t n = strspn(text, DIGITS);

    *shift = unit_shift(text + n);
    return n != 0 && *shift != 1 &&
           compare_digits(text, n, UINT64_MAX >> *shift) <= 0;
}

static void require_same_size(uint64_t size, unsigned shift)
{
    static const char *const units[] = { "", "K", "M", "G", "T" };
    char text[32];
    uint64_t again = BEFORE;

    snprintf(text, sizeof text, "%" PRIu64 "%s", size >> shift,
             units[shift / 10]);
    FUZZ_REQUIRE(opts_size(text, &again) && again == size,
                 "%" PRIu64 " for %s, which is %" PRIu64, again, text, size);
}

static void try_size(const char *text)
{
    uint64_t size = BEFORE;
    unsigned shift;
    bool want = expect_size(text, &shift);
    bool got = opts_size(text, &size);

    FUZZ_REQUIRE(got == want, "'%s' is %s", text, got ? "taken" : "refused");
    FUZZ_REQUIRE(got || size == BEFORE, "'%s' is refused, and gave %" PRIu64,
                 text, size);
    if (!got)
        return;
    FUZZ_REQUIRE(compare_digits(text, strspn(text, DIGITS), size >> shift) ==
                         0 &&
                     size >> shift << shift == size,
                 "%" PRIu64 " for '%s'", size, text);
    require_same_size(size, 0);
    require_same_size(size, shift);
}

static void try_number(const char *text)
{
    static const struct {
        uint64_t least, most;
    } ranges[] = {
        { 0, UINT64_MAX },          { 1, UINT64_MAX }, { 1, UINT32_MAX },
        { 1, UINT64_C(1) << 40 },   { 1, 64 },         { 0, 0 },
        { UINT64_MAX, UINT64_MAX },
    };
    size_t n = strspn(text, DIGITS);
    bool is_number = n != 0 && text[n] == '\0';

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        uint64_t least = ranges[i].least, most = ranges[i].most;
        uint64_t number = BEFORE;
        bool want = is_number && compare_digits(text, n, least) >= 0 &&
                    compare_digits(text, n, most) <= 0;
        bool got = opts_number(text, least, most, &number);
        FUZZ_REQUIRE(got == want, "'%s' is %s within %" PRIu64 " and %" PRIu64,
                     text, got ? "taken" : "refused", least, most);
        FUZZ_REQUIRE(got ? compare_digits(text, n, number) == 0
                         : number == BEFORE,
                     "%" PRIu64 " for '%s'", number, text);
    }
}

/* ---- types ---- */

/* As the command prints it, it is one line, and no longer than it may be. */
static void require_reason(const char *why, const char *text)
{
    char line[4 * KEEP_WHY_MAX];
    size_t n = strnlen(why, KEEP_WHY_MAX);

    FUZZ_REQUIRE(n != 0 && n < KEEP_WHY_MAX, "reason of %zu bytes for '%s'", n,
                 text);
    text_escape(line, sizeof line, why, n);
    FUZZ_REQUIRE(line[0] != '\0', "no line for '%s'", text);
    for (const char *c = line; *c != '\0'; c++)
        FUZZ_REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7F, "'%s'", line);
}

static bool read_type(const char *text, uint32_t *type)
{
    char why[KEEP_WHY_MAX] = "";
    *type = UINT32_MAX;
    bool taken = keep_read_type(text, type, why);

    if (!taken) {
        FUZZ_REQUIRE(*type == UINT32_MAX, "type %" PRIu32 " for '%s'", *type,
                     text);
        require_reason(why, text);
    }
    return taken;
}

static void try_type(const char *text)
{
    uint32_t type, again;

    if (!read_type(text, &type))
        return;
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    FUZZ_REQUIRE(traits != NULL && traits->can_quantize &&
                     strcasecmp(traits->name, text) == 0,
                 "type %" PRIu32 " for '%s'", type, text);
    FUZZ_REQUIRE(read_type(traits->name, &again) && again == type,
                 "type %" PRIu32 " for '%s'", again, traits->name);
}

static void try_keep(const char *text)
{
    char why[KEEP_WHY_MAX] = "";
    size_t n = 0, again = 0;
    uint32_t type, type_again, alone;
    const char *equals = strrchr(text, '=');
    bool taken = keep_read(text, &n, &type, why);

    FUZZ_REQUIRE(taken == (equals != NULL && equals != text &&
                           read_type(equals + 1, &alone)),
                 "'%s' is %s", text, taken ? "taken" : "refused");
    if (!taken) {
        require_reason(why, text);
        return;
    }
    const char *name = ggld_type_traits_of(type)->name;
    char *written = fuzz_alloc(n + 1 + strlen(name) + 1);
    sprintf(written, "%.*s=%s", (int)n, text, name);
    FUZZ_REQUIRE(text + n == equals && type == alone &&
                     keep_read(written, &again, &type_again, why) &&
                     again == n && type_again == type,
                 "'%s', of '%s'", written, text);
    free(written);
}

/* ---- lists ---- */

/* size bytes, of one line: what it says, to be freed; NULL: nothing. */
static char *read_line(const char *data, size_t size, bool *taken)
{
    char *line = text_of((const uint8_t *)data, size);
    const char *pattern = NULL;

    *taken = order_read_line(line, size, &pattern);
    FUZZ_REQUIRE(*taken == (memchr(data, '\0', size) == NULL),
                 "a line of %zu bytes is %s", size,
                 *taken ? "taken" : "refused");
    char *copy = *taken && pattern != NULL ? strdup(pattern) : NULL;
    free(line);
    return copy;
}

/* All of a line but its end counts, and is what the same line says with another
 * end. */
static void try_line(const char *data, size_t size)
{
    size_t n = size - (size != 0 && data[size - 1] == '\n');
    bool taken, again;
    char *pattern = read_line(data, size, &taken);

    n -= n != 0 && data[n - 1] == '\r';
    bool says = taken && n != 0 && data[0] != '#';
    FUZZ_REQUIRE((pattern != NULL) == says, "a line of %zu bytes says %s", size,
                 pattern != NULL ? pattern : "nothing");
    if (pattern == NULL)
        return;
    FUZZ_REQUIRE(strlen(pattern) == n && memcmp(pattern, data, n) == 0,
                 "'%s' for %zu bytes", pattern, n);
    char *line = fuzz_alloc(n + 3);
    sprintf(line, "%s\r\n", pattern);
    char *same = read_line(line, n + 2, &again);
    FUZZ_REQUIRE(same != NULL && strcmp(same, pattern) == 0, "'%s', of '%s'",
                 same != NULL ? same : "nothing", pattern);
    free(same);
    free(line);
    free(pattern);
}

static void try_order(const char *data, size_t size)
{
    while (size != 0) {
        const char *end = memchr(data, '\n', size);
        size_t n = end != NULL ? (size_t)(end - data) + 1 : size;
        try_line(data, n);
        data += n;
        size -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);

    try_size(text);
    try_number(text);
    try_type(text);
    try_keep(text);
    try_order(text, size);
    free(text);
    return 0;
}
