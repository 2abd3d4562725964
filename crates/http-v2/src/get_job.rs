//! `GET /v2/agent/{projectId}/job/{id}`: where a job stands, at once or as soon as it has ended.

use std::time::Duration;

use docent_jobs::Jobs;
use docent_types::Project;
use docent_web::{HttpError, Request, Response, respond};

use crate::face::Face;
use crate::job::JobBody;

/// The longest a caller may wait, in seconds: less than what proxies commonly put up with.
const LONGEST_WAIT: u32 = 60;

pub(crate) async fn get_job(
    face: &Face,
    request: &Request,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let id = Jobs::id(&project.id, id)?;
    let wait = request.query_number_if_any("wait", 1..=LONGEST_WAIT, "leave it out to be answered at once")?;
    let waited = match wait {
        Some(seconds) => {
            // In a box, so that those who do not wait need no room for it.
            let settled = Box::pin(face.jobs.settled(&project.id, id, Duration::from_secs(seconds.into())));
            request.draining().unless_told(settled).await.transpose()?
        }
        None => None,
    };
    let job = match waited {
        Some(job) => job,
        None => face.jobs.job(&project.id, id).await?,
    };
    Ok(respond::json_unless_known(request, &JobBody::from(&job)))
}
