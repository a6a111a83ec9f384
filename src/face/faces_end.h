/*
 * faces_end.h — undefines what the parameters in faces.h and faces_messages.h are, so that the next use of a list defines it anew.
 */
#undef IN
#undef OUT
#undef INT
#undef INTS
#undef SIZE
#undef SIZES
#undef AINTS
#undef TYPE
#undef TYPES
#undef OP
#undef COMM
#undef REQUEST
#undef STATUS
#undef FLAG
#undef TAKEN
#undef IN_PLACE
#undef BYTES
#undef GIVEN
