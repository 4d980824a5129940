/** The local service's errors, in the document's envelope or the inference envelope. */
import { type ErrorType, errorCodes } from '../../contract/errors.ts';

/** The HTTP status for each code. The document gives none; services with this contract have been seen to use these. */
const statuses: Readonly<Record<keyof typeof errorCodes, number>> = {
  authentication_required: 401,
  permission_denied: 403,
  validation_error: 422,
  rate_limited: 429,
  internal_error: 500,
  service_unavailable: 503,
  invalid_trajectory_upload: 400,
  trajectory_upload_conflict: 409,
  trajectory_upload_failed: 500,
  resource_not_found: 404,
  trajectory_already_terminal: 409,
};

interface ApiErrorDetails {
  readonly param?: string | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Thrown by a route to respond with an error. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: ErrorType;
  readonly code: string;
  readonly details: ApiErrorDetails;

  constructor(status: number, type: ErrorType, code: string, message: string, details: ApiErrorDetails = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
    this.details = details;
  }

  /** The body for the `/api/v1` endpoints. */
  envelope() {
    const { param = null, context = {} } = this.details;
    const doc_url = `https://docs.invalid/errors/${this.code}`;
    return { error: { type: this.type, code: this.code, message: this.message, param, doc_url, context } };
  }

  /** The body for inference. */
  inferenceEnvelope() {
    return { error: { message: this.message, type: this.type, param: this.details.param ?? null, code: this.code } };
  }
}

/** An error with one of the document's codes. */
export function apiError(code: keyof typeof errorCodes, message: string, details?: ApiErrorDetails): ApiError {
  return new ApiError(statuses[code], errorCodes[code], code, message, details);
}

/** An error whose status means that nothing was stored. */
export function notStored(code: keyof typeof errorCodes, message: string, details?: ApiErrorDetails): ApiError {
  return new ApiError(507, errorCodes[code], code, message, details);
}

/** A `validation_error` about a parameter or field; the message begins with its name. */
export function invalid(param: string, words: string, context?: ApiErrorDetails['context']): ApiError {
  return apiError('validation_error', `${param}: ${words}`, { param, context });
}

/** The resource's state does not allow the request. */
export function conflict(code: string, message: string, details?: ApiErrorDetails): ApiError {
  return new ApiError(409, 'conflict_error', code, message, details);
}

export function alreadyEnded(status: string): ApiError {
  return conflict('run_already_terminal', `The run has already ended as ${status}.`);
}

export function notFound(what: string, id: string): ApiError {
  return apiError('resource_not_found', `There is no ${what} ${id}.`);
}
