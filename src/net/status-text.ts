import { STATUS_CODES } from 'node:http';

/** The reason phrase of a status, such as `Not Found`; empty for an unknown one. */
export const statusText = (status: number): string => STATUS_CODES[status] ?? '';
