/* The measures of openset for programs in other languages: what the commands eval, compare and threshold compute, of
 * arrays that are in memory. In C, so that any language can call it; the Python package does by ctypes.
 *
 *   1. openset_call() with a request and arrays returns an answer.
 *   2. openset_code() says whether it went well, openset_text() and openset_array() what was found.
 *   3. openset_free() ends the answer and what was got from it.
 *
 * Calls may come from several threads at once. Arrays are only read, and only during the call. Nothing is thrown. */
#ifndef OPENSET_TOOLS_PYTHON_LIBRARY_OPENSET_H_
#define OPENSET_TOOLS_PYTHON_LIBRARY_OPENSET_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPENSET_PUBLIC __attribute__((visibility("default")))

/* An array of one of the request's sets of samples. */
struct OpensetArray {
  int32_t set;            /* its set, from 0 */
  int32_t rank;           /* at most 64 */
  const char* name;       /* as in files (docs/eval.md): "label", "logits", ... */
  const char* type;       /* of its elements, as NumPy writes it: "<f4", "<i8", "<U12" */
  int64_t item_bytes;     /* of an element */
  const void* data;       /* the first element; may be null where there are none */
  const int64_t* shape;   /* [rank] */
  const int64_t* strides; /* [rank], bytes from an element to the next; null: row-major */
};

struct OpensetAnswer;

/* Of this file: raised where a caller that was made for an older one would misread an answer. */
#define OPENSET_INTERFACE 1
OPENSET_PUBLIC int32_t openset_interface(void);

/* `request` is a message Call (tools/evaluation/request.proto) as text. Never null, unless there is no memory for an
 * answer. */
OPENSET_PUBLIC struct OpensetAnswer* openset_call(const char* request, int64_t request_bytes,
                                                  const struct OpensetArray* arrays, int64_t num_arrays);

/* As the command would exit: 0 done, 2 wrong arguments or input, 1 anything else. */
OPENSET_PUBLIC int32_t openset_code(const struct OpensetAnswer* answer);

/* What was found, as the command's --format=json writes it, or what is wrong, in one line. UTF-8, not ended by 0. */
OPENSET_PUBLIC const char* openset_text(const struct OpensetAnswer* answer, int64_t* bytes);

/* Of `score`: "unknown_score" (doubles), "prediction" (int64; there may be none). Null where there is no such array. */
OPENSET_PUBLIC const void* openset_array(const struct OpensetAnswer* answer, const char* name, int64_t* length);

OPENSET_PUBLIC void openset_free(struct OpensetAnswer* answer);

/* Calls take at most so many threads from now on, and never more than there are CPUs that they may run on. No number
 * depends on it. Less than 1 counts as 1. */
OPENSET_PUBLIC void openset_limit_threads(int32_t threads);

#ifdef __cplusplus
}
#endif

#endif /* OPENSET_TOOLS_PYTHON_LIBRARY_OPENSET_H_ */
