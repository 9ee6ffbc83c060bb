#pragma once

#include <functional>
#include <vector>

#include "core/session/outputs/show_outputs.h"
#include "core/session/session.h"

namespace sonde::session::outputs {

/// The outputs of the session's last run: the end points, or the model's outputs. Nothing without a recording.
ShowRequest showRequest(const Session& session, std::vector<Choice> choices);
/// The model's outputs as far as a run has come that is gone through step by step; `valueOf` gives what there is there.
ShowRequest showRequest(const Session& session, std::vector<Choice> choices,
                        const std::function<const tensor::Value*(graph::NodeId)>& valueOf);

}  // namespace sonde::session::outputs
