/** What some work would send, for a person to look at before it is sent. */

import { useEffect, useState } from 'react';
import type { Service } from '../service/index.ts';
import type { RequestPreview } from '../service/request.ts';
import { asError } from '../text/errors.ts';
import { useWorkbench } from './workbench.tsx';

export type { RequestPreview };

export type Requests =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'known'; readonly requests: readonly RequestPreview[] }
  | { readonly kind: 'failed'; readonly fault: Error };

const connecting: Requests = { kind: 'connecting' };

/**
 * The requests of some work: they depend on what the service calls things, so that they are known once there is a
 * connection. Undefined without work, in which case none is made.
 */
export function useRequests(work: ((service: Service) => unknown) | undefined): Requests | undefined {
  const workbench = useWorkbench();
  const [found, setFound] = useState<{ readonly service: Service } | { readonly fault: Error }>();
  const wanted = work !== undefined;
  useEffect(() => {
    if (!wanted) return undefined;
    let gone = false;
    workbench.service().then(
      service => !gone && setFound({ service }),
      (error: unknown) => !gone && setFound({ fault: asError(error) }),
    );
    return () => {
      gone = true;
    };
  }, [wanted, workbench]);
  if (!work) return undefined;
  if (!found) return connecting;
  if ('fault' in found) return { kind: 'failed', fault: found.fault };
  return { kind: 'known', requests: found.service.describe(work) };
}
