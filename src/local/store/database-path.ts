/** The path of a data folder's database. Imports next to nothing, because the service's clients need it too. */
import { join } from 'node:path';

export function databasePath(dataFolder: string): string {
  return join(dataFolder, 'benchtop.db');
}
