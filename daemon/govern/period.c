// SPDX-License-Identifier: GPL-2.0
#include "govern/period.h"

#include <stdbool.h>

static bool is_prime(u64 number)
{
	if (number < 4)
		return number >= 2;
	if (number % 2 == 0)
		return false;
	for (u64 divisor = 3; divisor * divisor <= number; divisor += 2)
		if (number % divisor == 0)
			return false;
	return true;
}

u64 govern_period(double wanted, u64 least, u64 greatest, u64 step)
{
	u64 first, last, multiple;

	step = step ? step : 1;
	first = (least + step - 1) / step;
	first = first ? first : 1;
	last = greatest / step;
	if (last < first)
		last = first;
	multiple = first;
	if (wanted >= (double)(last * step))
		multiple = last;
	else if (wanted > (double)(first * step))
		multiple = ((u64)wanted + ((double)(u64)wanted < wanted) + step - 1) / step;
	for (u64 prime = multiple; prime <= last; prime++)
		if (is_prime(prime))
			return prime * step;
	return multiple * step;
}
