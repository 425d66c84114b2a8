/** Questions of one turn of the event loop that share a trip to the database; what is asked is not known here. */

/**
 * All the questions of a turn are asked at its end as one; the answers are in their order. One that
 * comes later than the others is a promise.
 */
export function shareTrips<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
): (question: Question) => Promise<Answer> {
  let trip:
    | { readonly questions: Question[]; readonly answers: ReturnType<typeof ask> }
    | undefined;

  function begin() {
    const questions: Question[] = [];
    const answers = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      trip = undefined;
      return ask(questions);
    });
    return { questions, answers };
  }

  return async (question) => {
    trip ??= begin();
    const place = trip.questions.push(question) - 1;
    return (await trip.answers)[place] as Answer | Promise<Answer>;
  };
}
