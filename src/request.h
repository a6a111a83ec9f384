/*
 * request.h — the persistent form's object, as far as the rest of the library looks into it.
 */
#ifndef PAT_REQUEST_H
#define PAT_REQUEST_H

#include "datatype.h"

struct pat_request;

/* The call an opened request stands for; NULL when `request` is NULL or its buffer is not the library's to
 * fill now. */
const pat_call *pat_request_open_call(const struct pat_request *request);

/* Started and not yet waited for; false when `request` is NULL. */
bool pat_request_started(const struct pat_request *request);

#endif
