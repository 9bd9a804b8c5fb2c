import type { Forecast, NamedPath, Plan } from '../answers.ts';
import { element } from '../element.ts';
import { conflictsPart } from '../overview.ts';
import type { ConflictDialogs } from './conflict-dialogs.ts';

/** Everything that stands in the way of a sandbox: by its plan, and by the forecast, which comes later. */
export class ConflictsView {
  readonly view = element('div');
  readonly #name: string;
  readonly #dialogs: ConflictDialogs;
  #plan: Plan | undefined;
  #forecast: Forecast | undefined;

  constructor(name: string, dialogs: ConflictDialogs, forecast: Forecast | undefined) {
    this.#name = name;
    this.#dialogs = dialogs;
    this.#forecast = forecast;
  }

  showPlan(plan: Plan): void {
    this.#plan = plan;
    this.#draw(plan);
  }

  showForecast(forecast: Forecast): void {
    this.#forecast = forecast;
    if (this.#plan) this.#draw(this.#plan);
  }

  /** The decision carries out what is settled here; the plan stays without it. */
  #draw(plan: Plan): void {
    const { settled } = this.#dialogs;
    const isOpen = ({ path }: NamedPath) => !settled.has(path);
    const into = plan.branch ?? plan.head.slice(0, 10);
    const asked = { integration: 'merge', paths: [], parts: [], into } as const;
    const part = conflictsPart({ ...plan, conflicts: plan.conflicts.filter(isOpen) }, this.#forecast, this.#name, {
      settled: plan.conflicts.filter((file) => !isOpen(file)),
      onConflict: (file) => void this.#dialogs.open(file, asked, plan.tip, () => this.#draw(plan)),
    });
    this.view.replaceChildren(part);
  }
}
