/** Where the database of a data folder is. Imports next to nothing: clients of the service need it too. */
import { join } from 'node:path';

export function databasePath(dataFolder: string): string {
  return join(dataFolder, 'benchtop.db');
}
