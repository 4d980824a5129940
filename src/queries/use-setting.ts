/** A choice that is kept between two starts, e.g. the columns of a table. */
import { useCallback, useState } from 'react';
import { useWorkbench } from './workbench.tsx';

export function useSetting<Value>(name: string, usual: Value): readonly [Value, (value: Value) => void] {
  const { remembered } = useWorkbench();
  const [value, setValue] = useState<Value>(() => (remembered.setting(name) as Value | undefined) ?? usual);
  const keep = useCallback(
    (next: Value) => {
      setValue(next);
      remembered.setSetting(name, next);
    },
    [remembered, name],
  );
  return [value, keep];
}
