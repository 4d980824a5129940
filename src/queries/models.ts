/** What the screens ask about models. */
import type { SupportedModel } from '../contract/models.ts';
import { type ListSource, wholePage } from './lists/list.ts';

const modelKeys = { list: ['models'] } as const;

export const modelList: ListSource<SupportedModel> = {
  key: modelKeys.list,
  id: row => row.model_slug,
  readPage: async ({ service, signal }) => wholePage(await service.call('listSupportedTrainingModels', {}, { signal })),
};
