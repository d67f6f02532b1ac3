# Makes bodies.h: one line for each row of tensor_types.def.
s,^TYPE([^"]*"\([^"]*\)".*,#include "body/\1.h",p
