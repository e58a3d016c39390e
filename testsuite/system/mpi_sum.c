/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For test_mpi.py: each rank says where it runs, and what all ranks sum up to. The message
 * is long, so that its packets are told from those of a connection's set-up.
 */
#include <mpi.h>
#include <stdio.h>

#define INTS (1 << 20)

int main(int argc, char *argv[])
{
	static int mine[INTS], sum[INTS];
	char host[MPI_MAX_PROCESSOR_NAME];
	int rank, size, len, same = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(host, &len);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < INTS; i++)
		mine[i] = 10 * (rank + 1);
	MPI_Allreduce(mine, sum, INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	while (same < INTS && sum[same] == sum[0])
		same++;
	if (same == INTS)
		printf("rank %d of %d on %s: sum %d\n", rank, size, host, sum[0]);
	else
		printf("rank %d: element %d differs\n", rank, same);
	MPI_Finalize();
	return 0;
}
