//! The answers about a machine, as wire types.

use super::document::{Answer, Ask, Choice, Document, Fix, Machine, Proof, SCHEMA, Status, Totals};
use whylate_checks::{self as checks, CheckReport, CheckedRule};

impl From<&CheckReport> for Document {
    fn from(report: &CheckReport) -> Self {
        let answers: Vec<Answer> = report.answers.iter().map(Answer::from).collect();
        let count = |status| answers.iter().filter(|answer| answer.status == status).count() as u64;
        let (machine, ask) = (report.machine.clone(), &report.options);
        Document {
            schema: SCHEMA.to_owned(),
            machine: Machine {
                release: machine.release,
                version: machine.version,
                cpus: machine.cpus,
                model: machine.model,
            },
            ask: Ask {
                profile: ask.profile.to_string(),
                cpus: ask.cpus.as_ref().map(ToString::to_string),
                priority: ask.priority,
                user: ask.user.clone(),
            },
            totals: Totals {
                pass: count(Status::Pass),
                fail: count(Status::Fail),
                cannot_tell: count(Status::CannotTell),
                not_applicable: count(Status::NotApplicable),
            },
            answers,
        }
    }
}

impl From<&CheckedRule> for Answer {
    fn from(answered: &CheckedRule) -> Self {
        let rule = answered.rule;
        let mut answer = Answer {
            code: rule.code.to_owned(),
            title: rule.title.to_owned(),
            status: Status::CannotTell,
            severity: answered.severity().into(),
            what: String::new(),
            why: String::new(),
            evidence: Vec::new(),
            fix: Vec::new(),
            choices: Vec::new(),
            sources: rule.sources.iter().map(|&source| source.to_owned()).collect(),
        };
        match &answered.verdict {
            Ok(outcome) => {
                answer.status = match outcome.status {
                    checks::RuleStatus::Pass => Status::Pass,
                    checks::RuleStatus::Fail => Status::Fail,
                    checks::RuleStatus::NotApplicable => Status::NotApplicable,
                };
                answer.what = outcome.what.clone();
                answer.why = outcome.why.clone();
                answer.evidence = outcome.evidence.iter().map(Proof::from).collect();
                answer.fix = outcome.fixes.iter().map(Fix::from).collect();
                let choice =
                    |choice: &checks::Choice| Choice { name: choice.name.clone(), here: choice.here.clone() };
                answer.choices = outcome.choices.iter().map(choice).collect();
            }
            Err(unknown) => {
                answer.what = format!("Cannot tell: {} is not known", unknown.path);
                answer.why = unknown.why.clone();
                answer.evidence = vec![Proof { path: unknown.path.clone(), value: unknown.why.clone() }];
            }
        }
        answer
    }
}

impl From<&checks::Proof> for Proof {
    fn from(proof: &checks::Proof) -> Self {
        Proof { path: proof.path.clone(), value: proof.value.clone() }
    }
}

impl From<&checks::Fix> for Fix {
    fn from(fix: &checks::Fix) -> Self {
        Fix {
            runtime: fix.runtime.clone(),
            boot: fix.boot.clone(),
            risk: fix.risk.clone(),
            reboot: fix.reboot,
            action: Some(fix.action.clone()),
        }
    }
}
