/**
 * Keeps the heap of this process near the size of what lives in it. Left alone, V8 lets it grow to many times that for the
 * sake of a throughput that neither a screen nor a service for one machine has a use for: 280 MB instead of 160 with 10,000
 * rows and a long trajectory, 260 instead of 75 after 16,000 requests.
 */
export function keepHeapSmall(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  // The young generation keeps its size; the old one is collected when it has grown by so much.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=60');
}
