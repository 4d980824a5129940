/**
 * Loads the code of views and windows when they are first opened, so that the first frame need not wait for it. Does
 * not use `Suspense`, because React shows its fallback for at least 300 ms.
 */
import { Text } from 'ink';
import {
  type ComponentType,
  type FunctionComponent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useState,
} from 'react';
import { errorCode, errorMessage, partMissing } from '../../base/errors.ts';
import type { ViewName } from '../../resources/place.ts';
import { clean } from '../../text/sanitise.ts';
import { useRouter } from '../keys/router.tsx';
import type { ViewProps } from './registry.ts';
import { useShell } from './shell-context.tsx';
import { View } from './view.tsx';

/** Why a part could not be loaded. */
interface FailedLoad {
  readonly words: string;
}

function describeLoadFailure(error: unknown): string {
  const message = errorMessage(error);
  if (message === partMissing || errorCode(error) === 'ENOENT') return partMissing;
  return clean`This part of benchtop could not be loaded: ${message}`;
}

/** `Failed` replaces a part if its code cannot be loaded. Keys pressed while a part is loading wait for it. */
function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Failed: FunctionComponent<Props & FailedLoad>,
  waiting: ReactNode,
): FunctionComponent<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function LazyPart(props: Props) {
    const [{ Content }, setState] = useState({ Content: loaded });
    const router = useRouter();
    useLayoutEffect(() => {
      if (Content) return undefined;
      const release = router.hold();
      load().then(
        part => {
          loaded = part;
          setState({ Content: part });
        },
        (error: unknown) => {
          const words = describeLoadFailure(error);
          setState({ Content: own => <Failed {...own} words={words} /> });
        },
      );
      // Release the keys after the part has bound its own.
      return () => void setImmediate(release);
    }, [Content, router]);
    return Content ? <Content {...props} /> : waiting;
  };
}

const FailedPart = ({ words }: FailedLoad) => <View main={<Text>{` ${words}`}</Text>} />;

/** Creates a lazily loaded view. If its code cannot be loaded, the reason is shown instead. */
export function lazyView<Name extends ViewName>(
  load: () => Promise<ComponentType<ViewProps<Name>>>,
): ComponentType<ViewProps<Name>> {
  return lazyPart(load, FailedPart, <View main={<Text> </Text>} />);
}

/** Closes at once, with an error message. */
function FailedWindow({ onClose, words }: { readonly onClose: () => void } & FailedLoad) {
  const { toast } = useShell();
  useEffect(() => {
    toast({ kind: 'danger', text: words });
    onClose();
  }, [toast, onClose, words]);
  return null;
}

/** Creates a lazily loaded window. If its code cannot be loaded, it closes and shows the reason. */
export function lazyWindow<Props extends { readonly onClose: () => void }>(
  load: () => Promise<ComponentType<Props>>,
): FunctionComponent<Props> {
  return lazyPart(load, FailedWindow, null);
}
