/** Queries for models. */
import type { ChatModel } from '../contract/inference.ts';
import type { SupportedModel } from '../contract/models.ts';
import { type ListSource, wholePage } from './lists/list-source.ts';
import type { LiveQuery } from './live-query.ts';

const modelKeys = { list: ['models'], chat: ['models', 'chat'] } as const;

export const modelList: ListSource<SupportedModel> = {
  key: modelKeys.list,
  id: row => row.model_slug,
  readPage: async ({ service, signal }) => wholePage(await service.call('listSupportedTrainingModels', {}, { signal })),
};

/** A model's prices, in the service's unit. */
export const pricesOf = (models: readonly SupportedModel[], slug: string | undefined): SupportedModel['pricing'] =>
  models.find(({ model_slug }) => model_slug === slug)?.pricing;

/** The models available for chat, if the service lists them. */
export const chatModelsQuery: LiveQuery<readonly ChatModel[]> = {
  key: modelKeys.chat,
  activity: () => 'open',
  read: async ({ service, signal }) => (await service.call('listModels', {}, { signal })).data,
};
