//! What becomes of a model's reply: its calls are run, or its text is the answer.

use super::{End, Run, RunError};
use crate::agent::answer::{self, Answer};
use crate::agent::at_hand::AtHand;
use crate::agent::notice::Notice;
use crate::agent::prompt;
use crate::agent::reminder::REMINDER;
use crate::agent::stall::Verdict;
use crate::model::chat::{ChatReply, StopReason};
use crate::session::event::Outcome;
use crate::session::message::{Message, ReplyEnd, ToolCall};
use crate::tools::todo_write;

impl Run<'_> {
    /// Acts on a reply: runs its calls, or takes it as the answer.
    pub(super) async fn take(&mut self, reply: ChatReply) -> Result<Option<End>, RunError> {
        self.meter.spend(reply.usage);
        let mut message = reply.message;
        message.reply = Some(ReplyEnd {
            usage: reply.usage,
            stop: reply.stop,
        });
        self.make_ids_unique(&mut message);
        let text = message.text.trim().to_owned();
        let calls = message.tool_calls.clone();
        if reply.stop == StopReason::Refusal {
            let said = (!text.is_empty()).then_some(text);
            return Ok(Some(self.end(Outcome::Failed, Notice::Refused, said)));
        }
        if calls.is_empty() && text.is_empty() {
            return Ok(self.take_nothing());
        }
        self.say(message)?;
        match (calls.is_empty(), self.closing.clone()) {
            (false, None) => self.take_calls(calls, text, reply.stop == StopReason::Length).await,
            (false, Some(notice)) => {
                let refused = self.dispatcher.refuse(&calls)?;
                self.keep(refused);
                let said = answer::cites(&text).then_some(text);
                Ok(Some(self.incomplete(notice, said)))
            }
            (true, _) => self.take_text(text, reply.stop),
        }
    }

    /// An empty reply is forgiven once. It does not enter the history, where some providers refuse it.
    fn take_nothing(&mut self) -> Option<End> {
        if self.candidate.is_some() {
            return Some(self.answered(String::new()));
        }
        if self.forgiven.empty_reply || self.closing.is_some() {
            return Some(self.incomplete(Notice::EmptyReplies, None));
        }
        self.forgiven.empty_reply = true;
        self.nudges.push(prompt::EMPTY_REPLY.trim_end().to_owned());
        None
    }

    async fn take_calls(&mut self, calls: Vec<ToolCall>, text: String, cut: bool) -> Result<Option<End>, RunError> {
        let turn = self.dispatcher.turn(&calls, cut, &self.stop).await?;
        let plan_written = turn.plan.is_some();
        let only_plan = calls.iter().all(|c| c.name == todo_write::NAME);
        let verdict = self.stall.judge(&turn.records);
        self.keep(turn);
        if self.stop.is_cancelled() {
            return Ok(Some(self.stopped()));
        }
        let open = self.input.plan.lock().open().next().is_some();
        if plan_written {
            self.plan_seen_at = Some(self.meter.turns);
            if only_plan && !open {
                // Many models send the answer along with the write that closes the plan.
                if answer::cites(&text) {
                    self.candidate = Some(answer::choose(self.candidate.take(), text));
                }
                if self.forgiven.open_steps && self.candidate.is_some() {
                    return Ok(Some(self.answered(String::new())));
                }
            }
        }
        if self.reminder.turn_ended(plan_written, open) {
            self.nudges.push(REMINDER.to_owned());
        }
        match verdict {
            Verdict::GoOn => {}
            Verdict::Tell(text) => self.nudges.push(text),
            Verdict::End(circle) => self.closing = Some(Notice::WentInCircles(circle)),
        }
        // A plan says by itself what comes next.
        if self.input.settings.guided && !open {
            self.nudges.extend(AtHand::of(&self.calls).map(AtHand::pointed_at));
        }
        Ok(None)
    }

    /// A text without calls is the answer, unless it was cut off or leaves steps open: each is forgiven once.
    fn take_text(&mut self, text: String, stop: StopReason) -> Result<Option<End>, RunError> {
        let last_turn = self.closing.is_some();
        if stop == StopReason::Length {
            if self.forgiven.cut_answer || last_turn {
                return Ok(Some(self.incomplete(Notice::CutOff, Some(text))));
            }
            self.forgiven.cut_answer = true;
            self.say(Message::user(reminder(prompt::TOO_LONG)))?;
            return Ok(None);
        }
        let open: Vec<String> = self
            .input
            .plan
            .lock()
            .open()
            .map(|t| format!("- #{} {}", t.id, t.content))
            .collect();
        let is_answer = Answer::read(&text).outcome == Outcome::Answered;
        if !open.is_empty() && is_answer && !self.forgiven.open_steps && !last_turn {
            self.forgiven.open_steps = true;
            self.candidate = Some(answer::choose(self.candidate.take(), text));
            let asked = format!("{}\n{}", prompt::RECONCILE.trim_end(), open.join("\n"));
            self.say(Message::user(reminder(&asked)))?;
            return Ok(None);
        }
        let gives_up = Answer::read(&text).outcome == Outcome::Abstained && !self.forgiven.gave_up && !last_turn;
        if let Some(at_hand) = AtHand::of(&self.calls).filter(|_| gives_up) {
            let asked = reminder(&at_hand.held_against());
            self.forgiven.gave_up = true;
            self.candidate = Some(answer::choose(self.candidate.take(), text));
            self.say(Message::user(asked))?;
            return Ok(None);
        }
        Ok(Some(self.answered(text)))
    }

    /// Some servers number the calls of each reply from 0: ids are made unique in the run. Replies that must go back to
    /// the provider as they came keep theirs.
    fn make_ids_unique(&self, message: &mut Message) {
        if message.provider_blocks.is_some() {
            return;
        }
        let turn = self.meter.turns;
        let mut in_reply: Vec<String> = Vec::new();
        for (index, call) in message.tool_calls.iter_mut().enumerate() {
            let taken = self.calls.iter().any(|c| c.call_id == call.id) || in_reply.contains(&call.id);
            if call.id.is_empty() || taken {
                call.id = format!("call_{turn}_{}", index + 1);
            }
            in_reply.push(call.id.clone());
        }
    }
}

/// Marks a message of the host, so that neither the model nor a reader takes it for the user's.
fn reminder(text: &str) -> String {
    format!("<reminder>{}</reminder>", text.trim_end())
}
