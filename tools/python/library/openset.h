/* openset's measurements for programs in other languages: what the commands eval, compare and threshold compute, on
 * arrays in memory. In C, so that any language can call it; the Python package uses ctypes.
 *
 *   1. openset_call() with a request and arrays returns an answer.
 *   2. openset_code() says whether the call succeeded; openset_text(), openset_hints() and openset_array() return the
 *      results.
 *   3. openset_free() frees the answer and everything that these functions returned.
 *
 * A process keeps the four detectors that it applied last in memory, fitted; a changed file is read again.
 * Several threads may make calls at once. Arrays are only read, and only during the call. No function throws, and too
 * little memory is an answer: each call first takes 1 MB, which it gives up when an allocation fails (by a handler of
 * std::set_new_handler() during calls). */
#ifndef OPENSET_TOOLS_PYTHON_LIBRARY_OPENSET_H_
#define OPENSET_TOOLS_PYTHON_LIBRARY_OPENSET_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPENSET_PUBLIC __attribute__((visibility("default")))

/* An array of one of the request's sets of samples. */
struct OpensetArray {
  int32_t set;            /* the index of its set, from 0 */
  int32_t rank;           /* at most 64 */
  const char* name;       /* as in files (docs/eval.md): "label", "logits", ... */
  const char* type;       /* of its elements, as NumPy writes it: "<f4", "<i8", "<U12" */
  int64_t item_bytes;     /* of an element */
  const void* data;       /* the first element; may be null if there are none */
  const int64_t* shape;   /* [rank] */
  const int64_t* strides; /* [rank], bytes from an element to the next; null: row-major */
};

struct OpensetAnswer;

/* The version of this interface. It is raised if a caller that was made for an older one would misread an answer. */
#define OPENSET_INTERFACE 1
OPENSET_PUBLIC int32_t openset_interface(void);

/* `request` is a message Call (tools/evaluation/request.proto) as text. Returns null only if there is no memory for an
 * answer. */
OPENSET_PUBLIC struct OpensetAnswer* openset_call(const char* request, int64_t request_bytes,
                                                  const struct OpensetArray* arrays, int64_t num_arrays);

/* The exit code of the corresponding command: 0 for success, 2 for wrong arguments or input, 1 for other errors; or 3
 * if there was too little memory. */
OPENSET_PUBLIC int32_t openset_code(const struct OpensetAnswer* answer);

/* The result, as the command's --format=json writes it, or an error message of one line, without control characters.
 * UTF-8, not terminated by 0. */
OPENSET_PUBLIC const char* openset_text(const struct OpensetAnswer* answer, int64_t* bytes);

/* What the command prints as hints: a list of texts in JSON, "[]" if there are none. UTF-8, not terminated by 0. */
OPENSET_PUBLIC const char* openset_hints(const struct OpensetAnswer* answer, int64_t* bytes);

/* For `score` and `apply_detector`: "unknown_score" (doubles), "prediction" (int64; may be absent); for
 * `apply_detector` also "rejected" (int64, 0 or 1). Null if there is no such array. */
OPENSET_PUBLIC const void* openset_array(const struct OpensetAnswer* answer, const char* name, int64_t* length);

OPENSET_PUBLIC void openset_free(struct OpensetAnswer* answer);

/* Limits later calls to this many threads. They never use more threads than the CPUs that they may run on. Results
 * don't depend on it. Less than 1 counts as 1. */
OPENSET_PUBLIC void openset_limit_threads(int32_t threads);

#ifdef __cplusplus
}
#endif

#endif /* OPENSET_TOOLS_PYTHON_LIBRARY_OPENSET_H_ */
