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
import { partMissing } from '../../base/errors.ts';
import type { ViewName } from '../../resources/place.ts';
import { useRouter } from '../keys/router.tsx';
import type { ViewProps } from './registry.ts';
import { useShell } from './shell-context.tsx';
import { View } from './view.tsx';

/** `Missing` replaces a part whose code cannot be read. Keys wait for the part they are meant for. */
function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Missing: ComponentType<Props>,
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
        () => setState({ Content: Missing }),
      );
      // Release the keys after the part has bound its own.
      return () => void setImmediate(release);
    }, [Content, router]);
    return Content ? <Content {...props} /> : waiting;
  };
}

const MissingPart = () => <View main={<Text>{` ${partMissing}`}</Text>} />;

/** Creates a lazily loaded view. If its code cannot be read, an error is shown instead. */
export function lazyView<Name extends ViewName>(
  load: () => Promise<ComponentType<ViewProps<Name>>>,
): ComponentType<ViewProps<Name>> {
  return lazyPart(load, MissingPart, <View main={<Text> </Text>} />);
}

/** Closes at once, with an error message. */
function MissingWindow({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useShell();
  useEffect(() => {
    toast({ kind: 'danger', text: partMissing });
    onClose();
  }, [toast, onClose]);
  return null;
}

/** Creates a lazily loaded window. If its code cannot be read, it closes with an error message. */
export function lazyWindow<Props extends { readonly onClose: () => void }>(
  load: () => Promise<ComponentType<Props>>,
): FunctionComponent<Props> {
  return lazyPart(load, MissingWindow, null);
}
