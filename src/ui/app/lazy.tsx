/** Views and windows whose code is loaded when they are first opened, so that the first frame need not wait for it. */
import { Text } from 'ink';
import { type ComponentType, type FunctionComponent, useEffect, useLayoutEffect, useState } from 'react';
import { partMissing } from '../../base/errors.ts';
import type { ViewName } from '../../resources/place.ts';
import { useRouter } from '../keys/router.tsx';
import type { ViewProps } from './registry.ts';
import { useShell } from './shell-context.tsx';
import { View } from './view.tsx';

/** A component that may not be loaded yet. */
interface LazyModule<Props> {
  readonly load: () => Promise<ComponentType<Props>>;
  loaded?: ComponentType<Props>;
}

/** Loads the part if necessary. Keys wait for it, because they are meant for the part. */
function useLazyModule<Props>(module: LazyModule<Props>): ComponentType<Props> | 'failed' | undefined {
  const [state, setState] = useState(() => ({ content: module.loaded, failed: false }));
  const router = useRouter();
  const waiting = !state.content && !state.failed;
  useLayoutEffect(() => {
    if (!waiting) return undefined;
    const release = router.hold();
    // Release the keys after the part has bound its own.
    return () => void setImmediate(release);
  }, [waiting, router]);
  useEffect(() => {
    if (!waiting) return;
    module.load().then(
      content => {
        module.loaded = content;
        setState({ content, failed: false });
      },
      () => setState({ content: undefined, failed: true }),
    );
  }, [waiting, module]);
  return state.failed ? 'failed' : state.content;
}

/** Creates a lazily loaded view. If its code cannot be read, an error is shown instead. */
export function lazyView<Name extends ViewName>(
  load: () => Promise<ComponentType<ViewProps<Name>>>,
): ComponentType<ViewProps<Name>> {
  const module: LazyModule<ViewProps<Name>> = { load };
  return function LazyView(props: ViewProps<Name>) {
    const Content = useLazyModule(module);
    if (Content && Content !== 'failed') return <Content {...props} />;
    return <View main={<Text>{Content === 'failed' ? ` ${partMissing}` : ' '}</Text>} />;
  };
}

/** Creates a lazily loaded window. If its code cannot be read, it closes with an error message. */
export function lazyWindow<Props extends { readonly onClose: () => void }>(
  load: () => Promise<ComponentType<Props>>,
): FunctionComponent<Props> {
  const module: LazyModule<Props> = { load };
  return function LazyWindow(props: Props) {
    const Content = useLazyModule(module);
    const { toast } = useShell();
    const { onClose } = props;
    const failed = Content === 'failed';
    useEffect(() => {
      if (!failed) return;
      toast({ kind: 'danger', text: partMissing });
      onClose();
    }, [failed, toast, onClose]);
    return Content && Content !== 'failed' ? <Content {...props} /> : null;
  };
}
