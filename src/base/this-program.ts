/** Stops SIGUSR1 from opening the debugger before the program handles the signal. Node has the flag since 22.14. */
const noDebugger = '--disable-sigusr1';

/** The command and its first arguments, for background processes. */
export function thisProgram(): { readonly command: string; readonly args: readonly string[] } {
  const { execPath: command, execArgv, argv, allowedNodeEnvironmentFlags: allowed } = process;
  const added = allowed.has(noDebugger) && !execArgv.includes(noDebugger) ? [noDebugger] : [];
  return { command, args: [...execArgv, ...added, argv[1] ?? ''] };
}
