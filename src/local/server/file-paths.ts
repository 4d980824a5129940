/** Paths of uploaded files, as a stranger may name them. */

const longestPath = 512;

/** What is wrong with a path, where something is. Paths go down from the folder of the benchmark, with `/` between. */
export function pathFault(path: string): string | undefined {
  if (path.length > longestPath) return `is longer than ${longestPath} characters`;
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'must be relative';
  if (path.includes('\\')) return 'must have / between its parts';
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'holds a control character';
  if (path.normalize('NFC') !== path) return 'is not in Unicode normal form C';
  if (path.split('/').some(part => part === '' || part === '.' || part === '..')) {
    return 'holds an empty part, “.” or “..”';
  }
  return undefined;
}
