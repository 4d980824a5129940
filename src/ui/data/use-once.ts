import { useEffect, useState } from 'react';
import { asError } from '../../base/errors.ts';
import type { Service } from '../../service/index.ts';
import { useWorkbench } from './workbench.tsx';

interface Once<Data> {
  readonly data?: Data;
  readonly error?: Error;
}

/** Reads something once, when the component first passes a function to read it with. */
export function useOnce<Data>(read: ((service: Service) => Promise<Data>) | undefined): Once<Data> {
  const workbench = useWorkbench();
  const [once, setOnce] = useState<Once<Data>>({});
  const isWanted = read !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function may differ in each render
  useEffect(() => {
    if (!read) return undefined;
    let gone = false;
    workbench
      .service()
      .then(read)
      .then(
        data => !gone && setOnce({ data }),
        (error: unknown) => !gone && setOnce({ error: asError(error) }),
      );
    return () => {
      gone = true;
    };
  }, [isWanted, workbench]);
  return once;
}
