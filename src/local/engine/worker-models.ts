/** The models in a worker's memory: all base models, and the most recently used others. */
import { buildBaseModel } from '../model/base-models.ts';
import { unpackCheckpoint } from '../model/checkpoint-file.ts';
import { deserialise } from '../model/model-file.ts';
import type { PolicyModel } from '../model/policy.ts';
import { readVerifiedAs, WeightFileError } from '../store/weight-files.ts';
import type { LocalModel } from './messages.ts';

const keptOfFiles = 8;

const bases = new Map<string, PolicyModel>();
const fromFiles = new Map<string, PolicyModel>();

function baseModel(slug: string): PolicyModel {
  const loaded = bases.get(slug);
  if (loaded) return loaded;
  const built = buildBaseModel(slug);
  bases.set(slug, built);
  return built;
}

function fromFile(model: Exclude<LocalModel, { kind: 'base' }>): PolicyModel {
  if (model.kind === 'serving') return readVerifiedAs(model.file, deserialise);
  const { base_model_slug, weights } = readVerifiedAs(model.file, unpackCheckpoint);
  const base = baseModel(model.slug);
  if (base_model_slug !== model.slug || weights.length !== base.network.weights.length) {
    const message = `The weights do not fit ${model.slug}: they belong to ${base_model_slug}, or to an older version of it.`;
    throw new WeightFileError('weights_corrupt', message);
  }
  return base.withWeights(weights);
}

/** @throws WeightFileError if the weights are gone, have changed, or belong to another base model */
export function loadModel(model: LocalModel): PolicyModel {
  if (model.kind === 'base') return baseModel(model.slug);
  const { hash } = model.file;
  const loaded = fromFiles.get(hash) ?? fromFile(model);
  // Move it to the end, because the first model is the least recently used.
  fromFiles.delete(hash);
  fromFiles.set(hash, loaded);
  const [oldest] = fromFiles.keys();
  if (fromFiles.size > keptOfFiles && oldest !== undefined) fromFiles.delete(oldest);
  return loaded;
}
