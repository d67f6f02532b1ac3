/* SPDX-License-Identifier: MIT */
/* The vocabulary of a sample, in the manner of byte-level BPE: a token for each
 * byte, words of syllables, special tokens; and merges that split the words in
 * two. Every token and every merge is there once; see sample.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "text.h"

#define N_BYTES 256

/* Each is consonants and then one vowel, so a word falls into syllables in one
 * way only and no two numbers make the same word. Letters beyond ASCII stand
 * as byte-level BPE writes their bytes: "Ã¤" is an a with two dots. */
static const char *const syllables[] = {
    "ba",  "ce",  "di",  "fo",  "gu",  "ha",  "je",  "ki",   "lo",
    "mu",  "na",  "pe",  "qui", "ro",  "su",  "ta",  "ve",   "wi",
    "xo",  "zu",  "cha", "she", "thi", "pho", "tru", "sta",  "pre",
    "gli", "blo", "kru", "nÃ¤", "lÃ¶", "mÃ¼", "fÃ©", "Ð´Ð°",
};
#define N_SYLLABLES (sizeof syllables / sizeof syllables[0])
/* Words of one syllable, with and without a space before them. */
#define N_SHORT   (2 * N_SYLLABLES)
#define TOKEN_MAX 128

/* What stands for a byte: itself where it is a visible Latin-1 character, and
 * the next of the code points from 256 on where not. */
static uint32_t byte_letter(uint32_t byte)
{
    uint32_t hidden = 0;

    for (uint32_t b = 0; b <= byte; b++) {
        bool visible = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) ||
                       (b >= 174 && b <= 255);
        if (b == byte)
            return visible ? b : 256 + hidden;
        hidden += !visible;
    }
    return byte;
}

/* Letters below 0x800 only: at most two bytes. */
static size_t put_letter(char *dst, uint32_t code)
{
    if (code < 0x80) {
        dst[0] = (char)code;
        return 1;
    }
    dst[0] = (char)(0xC0 | code >> 6);
    dst[1] = (char)(0x80 | (code & 0x3F));
    return 2;
}

/* Even words follow a space, which byte-level BPE writes as U+0120. */
static size_t put_word(char *dst, uint64_t word)
{
    const char *parts[16] = { NULL };
    size_t n_parts = 0, n = 0;

    if (word % 2 == 0)
        n += put_letter(dst, 0x120);
    /* Digits of a bijective numeral: no word is the beginning of another by a
     * zero. */
    for (uint64_t k = word / 2 + 1; k > 0; k = (k - 1) / N_SYLLABLES)
        parts[n_parts++] = syllables[(k - 1) % N_SYLLABLES];
    while (n_parts-- > 0) {
        size_t len = strlen(parts[n_parts]);
        memcpy(dst + n, parts[n_parts], len);
        n += len;
    }
    return n;
}

static size_t put_special(char *dst, uint64_t i)
{
    static const char *const names[] = { "begin_of_text", "end_of_text",
                                         "start_header_id", "end_header_id",
                                         "eot_id" };
    if (i < sizeof names / sizeof names[0])
        return (size_t)snprintf(dst, TOKEN_MAX, "<|%s|>", names[i]);
    return (size_t)snprintf(dst, TOKEN_MAX,
                            "<|reserved_special_token_%" PRIu64 "|>", i);
}

static uint64_t n_words(const sample_shape *s)
{
    return s->n_vocab - N_BYTES - s->n_special;
}

static size_t put_token(char *dst, const sample_shape *s, uint64_t i)
{
    if (i < N_BYTES)
        return put_letter(dst, byte_letter((uint32_t)i));
    if (i < s->n_vocab - s->n_special)
        return put_word(dst, i - N_BYTES);
    return put_special(dst, i - (s->n_vocab - s->n_special));
}

/* Bytes of the first n_letters letters. */
static size_t letters_bytes(const char *text, size_t len, uint64_t n_letters)
{
    size_t at = 0;
    uint32_t code;

    for (uint64_t i = 0; i < n_letters && at < len; i++)
        at += text_utf8(text + at, len - at, &code);
    return at;
}

/* Merge i, "left right": first every word split behind its first letter, then
 * the longer ones behind their second, and so on. */
static size_t put_merge(char *dst, const sample_shape *s, uint64_t i)
{
    uint64_t words = n_words(s);
    uint64_t word = i, letters = 1;

    if (i >= words) {
        uint64_t n_long = words - N_SHORT;
        word = N_SHORT + (i - words) % n_long;
        letters = 2 + (i - words) / n_long;
    }
    size_t len = put_word(dst, word);
    size_t left = letters_bytes(dst, len, letters);
    memmove(dst + left + 1, dst + left, len - left);
    dst[left] = ' ';
    return len + 1;
}

typedef size_t (*put_text)(char *dst, const sample_shape *s, uint64_t i);

static ggld_status put_strings(ggld_writer *w, const char *key,
                               const sample_shape *s, uint64_t n, put_text put,
                               ggld_error *err)
{
    ggld_string *strings = calloc(n, sizeof *strings);
    char *text = malloc(n * TOKEN_MAX);
    char *at = text;
    ggld_status status = GGLD_E_NOMEM;

    for (uint64_t i = 0; i < n && strings != NULL && text != NULL; i++) {
        strings[i].data = at;
        strings[i].len = put(at, s, i);
        at += strings[i].len;
    }
    if (strings != NULL && text != NULL)
        status = ggld_writer_set_strings(w, key, strings, n, err);
    else
        snprintf(err->message, sizeof err->message, "no memory for %s", key);
    free(text);
    free(strings);
    return status;
}

/* 1: normal, 3: control. */
static ggld_status put_types(ggld_writer *w, const sample_shape *s,
                             ggld_error *err)
{
    int32_t *types = calloc(s->n_vocab, sizeof *types);
    ggld_status status;

    if (types == NULL) {
        snprintf(err->message, sizeof err->message, "no memory for types");
        return GGLD_E_NOMEM;
    }
    for (uint64_t i = 0; i < s->n_vocab; i++)
        types[i] = i < s->n_vocab - s->n_special ? 1 : 3;
    status = ggld_writer_set_array(w, "tokenizer.ggml.token_type",
                                   GGLD_VALUE_I32, types, s->n_vocab, err);
    free(types);
    return status;
}

static ggld_status put_ids(ggld_writer *w, const sample_shape *s,
                           ggld_error *err)
{
    static const char chat_template[] =
        "{% for message in messages %}"
        "<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n"
        "{{ message['content'] }}<|eot_id|>{% endfor %}\n";
    uint32_t first = (uint32_t)(s->n_vocab - s->n_special);
    ggld_status status =
        ggld_writer_set_u32(w, "tokenizer.ggml.bos_token_id", first, err);

    if (status == GGLD_OK)
        status = ggld_writer_set_u32(w, "tokenizer.ggml.eos_token_id",
                                     first + 1, err);
    if (status == GGLD_OK)
        status =
            ggld_writer_set_bool(w, "tokenizer.ggml.add_bos_token", true, err);
    if (status == GGLD_OK)
        status =
            ggld_writer_set_string(w, "tokenizer.chat_template", chat_template,
                                   strlen(chat_template), err);
    return status;
}

ggld_status sample_put_vocab(ggld_writer *w, const sample_shape *s,
                             ggld_error *err)
{
    ggld_status status =
        ggld_writer_set_string(w, "tokenizer.ggml.model", "gpt2", 4, err);

    if (status == GGLD_OK)
        status = ggld_writer_set_string(w, "tokenizer.ggml.pre", "llama-bpe", 9,
                                        err);
    if (status == GGLD_OK)
        status = put_strings(w, "tokenizer.ggml.tokens", s, s->n_vocab,
                             put_token, err);
    if (status == GGLD_OK)
        status = put_types(w, s, err);
    if (status == GGLD_OK)
        status = put_strings(w, "tokenizer.ggml.merges", s, s->n_merges,
                             put_merge, err);
    if (status == GGLD_OK)
        status = put_ids(w, s, err);
    return status;
}
