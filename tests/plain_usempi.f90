! `use mpi` under the drop-in.
program plain_usempi
  use mpi
  implicit none
  include 'plain_fortran.inc'
end program
