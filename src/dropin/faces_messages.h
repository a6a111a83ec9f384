/*
 * faces_messages.h — every function of MPI 3 that sends a message to another rank or receives one, and every one that waits for requests, as programs call them: the list that
 * faces.h is for collectives, used in the same way. A file that includes it first defines what a row expands to, and what a parameter of each kind is there (as
 * faces_c.h does); all of that is undefined again at the end.
 *  MESSAGE(name, lower, upper, parameters, arguments, bytes): bytes of this rank's buffer, in which a receive may leave room.
 *  AWAIT(name, lower, upper, parameters, arguments, num, requests, done): it returns when some of `num` requests are over, or to say whether they are; afterwards `done` says which, as
 *  EVERY(all: are they?) or SOME(how many, their places). Where AWAIT is not defined, such a row is a MESSAGE of 0 bytes.
 *  BEGINS(name, lower, upper, parameters, arguments, num, requests): it starts `num` persistent requests. Where it is not defined, such a row is a MESSAGE of 0 bytes.
 *  LETS_GO(name, lower, upper, parameters, arguments, request): it frees that request. Where it is not defined, such a row is a MESSAGE of 0 bytes.
 * With LARGE defined, the list has only functions that have a form with counts of type MPI_Count.
 */
#ifndef MESSAGE
#define MESSAGE(name, lower, upper, parameters, arguments, bytes)
#endif
#ifndef AWAIT
#define AWAIT(name, lower, upper, parameters, arguments, num, requests, done)                                \
    MESSAGE(name, lower, upper, parameters, arguments, 0)
#endif
#ifndef BEGINS
#define BEGINS(name, lower, upper, parameters, arguments, num, requests)                                     \
    MESSAGE(name, lower, upper, parameters, arguments, 0)
#endif
#ifndef LETS_GO
#define LETS_GO(name, lower, upper, parameters, arguments, request)                                          \
    MESSAGE(name, lower, upper, parameters, arguments, 0)
#endif
#undef LIST
#define LIST(...) __VA_ARGS__

#define SENT        IN buf, SIZE count, TYPE datatype, INT dest, INT tag, COMM comm
#define SENT_AS     buf, count, datatype, dest, tag, comm
#define RECEIVED    OUT buf, SIZE count, TYPE datatype, INT source, INT tag, COMM comm
#define RECEIVED_AS buf, count, datatype, source, tag, comm
/* A send, and its non-blocking form. */
#define SENDS(name, lower, upper)                                                                            \
    MESSAGE(name, lower, upper, (SENT), (SENT_AS), BYTES(count, datatype))                                   \
    MESSAGE(I##lower, i##lower, I##upper, (SENT, REQUEST request), (SENT_AS, request), BYTES(count, datatype))

SENDS(Send, send, SEND)
SENDS(Bsend, bsend, BSEND)
SENDS(Ssend, ssend, SSEND)
SENDS(Rsend, rsend, RSEND)
MESSAGE(Recv, recv, RECV, (RECEIVED, STATUS status), (RECEIVED_AS, status), BYTES(count, datatype))
MESSAGE(Irecv, irecv, IRECV, (RECEIVED, REQUEST request), (RECEIVED_AS, request), BYTES(count, datatype))
MESSAGE(Mrecv, mrecv, MRECV, (OUT buf, SIZE count, TYPE datatype, TAKEN message, STATUS status),
        (buf, count, datatype, message, status), BYTES(count, datatype))
MESSAGE(Imrecv, imrecv, IMRECV, (OUT buf, SIZE count, TYPE datatype, TAKEN message, REQUEST request),
        (buf, count, datatype, message, request), BYTES(count, datatype))
MESSAGE(Sendrecv, sendrecv, SENDRECV,
        (IN sendbuf, SIZE sendcount, TYPE sendtype, INT dest, INT sendtag, OUT recvbuf, SIZE recvcount,
         TYPE recvtype, INT source, INT recvtag, COMM comm, STATUS status),
        (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
         status),
        BYTES(sendcount, sendtype))
MESSAGE(Sendrecv_replace, sendrecv_replace, SENDRECV_REPLACE,
        (OUT buf, SIZE count, TYPE datatype, INT dest, INT sendtag, INT source, INT recvtag, COMM comm,
         STATUS status),
        (buf, count, datatype, dest, sendtag, source, recvtag, comm, status), BYTES(count, datatype))

#ifndef LARGE
MESSAGE(Probe, probe, PROBE, (INT source, INT tag, COMM comm, STATUS status), (source, tag, comm, status), 0)
MESSAGE(Iprobe, iprobe, IPROBE, (INT source, INT tag, COMM comm, FLAG flag, STATUS status),
        (source, tag, comm, flag, status), 0)
MESSAGE(Mprobe, mprobe, MPROBE, (INT source, INT tag, COMM comm, TAKEN message, STATUS status),
        (source, tag, comm, message, status), 0)
MESSAGE(Improbe, improbe, IMPROBE, (INT source, INT tag, COMM comm, FLAG flag, TAKEN message, STATUS status),
        (source, tag, comm, flag, message, status), 0)
BEGINS(Start, start, START, (REQUEST request), (request), 1, request)
BEGINS(Startall, startall, STARTALL, (INT num, REQUEST requests), (num, requests), GIVEN(num), requests)
LETS_GO(Request_free, request_free, REQUEST_FREE, (REQUEST request), (request), request)

AWAIT(Wait, wait, WAIT, (REQUEST request, STATUS status), (request, status), 1, request, EVERY(true))
AWAIT(Test, test, TEST, (REQUEST request, FLAG flag, STATUS status), (request, flag, status), 1, request,
      EVERY(*flag))
AWAIT(Waitall, waitall, WAITALL, (INT num, REQUEST requests, STATUS statuses), (num, requests, statuses),
      GIVEN(num), requests, EVERY(true))
AWAIT(Testall, testall, TESTALL, (INT num, REQUEST requests, FLAG flag, STATUS statuses),
      (num, requests, flag, statuses), GIVEN(num), requests, EVERY(*flag))
AWAIT(Waitany, waitany, WAITANY, (INT num, REQUEST requests, FLAG index, STATUS status),
      (num, requests, index, status), GIVEN(num), requests, SOME(1, index))
AWAIT(Testany, testany, TESTANY, (INT num, REQUEST requests, FLAG index, FLAG flag, STATUS status),
      (num, requests, index, flag, status), GIVEN(num), requests, SOME(*flag ? 1 : 0, index))
AWAIT(Waitsome, waitsome, WAITSOME, (INT num, REQUEST requests, FLAG outcount, FLAG indices, STATUS statuses),
      (num, requests, outcount, indices, statuses), GIVEN(num), requests, SOME(*outcount, indices))
AWAIT(Testsome, testsome, TESTSOME, (INT num, REQUEST requests, FLAG outcount, FLAG indices, STATUS statuses),
      (num, requests, outcount, indices, statuses), GIVEN(num), requests, SOME(*outcount, indices))
#endif

#undef MESSAGE
#undef AWAIT
#undef BEGINS
#undef LETS_GO
#undef EVERY
#undef SOME
#undef SENT
#undef SENT_AS
#undef RECEIVED
#undef RECEIVED_AS
#undef SENDS
#undef LARGE
#include "faces_end.h"
