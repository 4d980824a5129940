/** Binary search: index of the last item whose place is at or before `place`; -1 if there is none. */
export function lastAt(count: number, placeAt: (index: number) => number, place: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (placeAt(middle) <= place) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
