#pragma once

#include "core/session/precision/precision.h"

namespace sonde::session {

/// How far a quantised model's values are from those of the float one: operations are paired as by modelDiff(), and
/// compared is what they give, what they read at the same place, and the outputs; notes say what has no counterpart. Of
/// a result that is quantised and dequantised again at once, what comes out of that is compared. NodeError::node is the
/// float model's. Neither has writes in place (document::withoutWrites). Errors: the models have not as many inputs;
/// those of precision::measure().
base::Result<precision::Report> measureQuantised(const document::Document& document,
                                                 const document::Document& quantised, const precision::Request& request,
                                                 const base::WorkContext& work = {});

}  // namespace sonde::session
