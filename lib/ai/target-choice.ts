import { HubError } from '../errors/hub-error.ts';
import type { Target } from './targets.ts';

/** Who is to answer a call. */
export interface Choice {
  target: Target;
  /** The model that the caller asks for; undefined leaves it to the target. */
  model: string | undefined;
}

/**
 * Chooses the target of a call (contract §5): the `x-target` header; else a `model` that is a target's id, or
 * `<target id>/<model>`.
 * @throws HubError `target_required`, `target_not_found` or `model_not_allowed`.
 */
export function chooseTarget(
  targets: ReadonlyMap<string, Target>,
  header: string | undefined,
  model: string | undefined,
): Choice {
  const choice =
    header === undefined || header === '' ? byModel(targets, model) : byHeader(targets, header, model);
  if (!mayAsk(choice.target, choice.model)) {
    throw new HubError('model_not_allowed', `Target ${choice.target.id} does not offer this model`, {
      param: 'model',
    });
  }
  return choice;
}

/** Whether a caller may ask a target for a model. The target's own is always allowed. */
export function mayAsk(target: Target, model: string | undefined): boolean {
  return (
    model === undefined ||
    target.models === undefined ||
    target.models.has(model) ||
    model === target.config.options.model
  );
}

function byHeader(targets: ReadonlyMap<string, Target>, id: string, model: string | undefined): Choice {
  const target = targets.get(id);
  if (target === undefined) {
    throw new HubError('target_not_found', 'There is no target with the id given in x-target', {
      param: 'x-target',
    });
  }
  return { target, model: model === id ? undefined : model };
}

function byModel(targets: ReadonlyMap<string, Target>, model: string | undefined): Choice {
  if (model !== undefined) {
    const target = targets.get(model);
    if (target !== undefined) return { target, model: undefined };
    const slash = model.indexOf('/');
    const prefixed = slash > 0 ? targets.get(model.slice(0, slash)) : undefined;
    if (prefixed !== undefined) return { target: prefixed, model: model.slice(slash + 1) || undefined };
  }
  throw new HubError(
    'target_required',
    'Choose a target: by the header x-target, or by a model that is a target id or <target id>/<model>',
    { param: 'x-target' },
  );
}
