/** The types for a call, in their own file so that the first frame does not load the service. */
import type { AnswerOf, InputOf, Operation } from '../contract/endpoints.ts';
import type { CallOptions } from './options.ts';
import type { CallInput } from './request.ts';

/** The input may be omitted if the operation takes none, or only a query. */
type CallArguments<Name extends Operation> =
  Record<string, never> extends InputOf<Name>
    ? [input?: InputOf<Name>, options?: CallOptions]
    : [input: InputOf<Name>, options?: CallOptions];

/** Sends an operation in the contract and reads the response. */
export type Call = <Name extends Operation>(operation: Name, ...rest: CallArguments<Name>) => Promise<AnswerOf<Name>>;

/** A call to an operation chosen at run time; its input is still validated against the contract. */
export type UntypedCall = (
  operation: Operation,
  input?: CallInput<unknown, unknown>,
  options?: CallOptions,
) => Promise<unknown>;

export const untypedCall = ({ call }: { readonly call: Call }): UntypedCall => call as UntypedCall;
