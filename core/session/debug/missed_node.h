#pragma once

#include <string>

#include "core/graph/ids.h"

namespace sonde::session {

class Debugger;

namespace debug {

/// Why a run that was to go on to a node stands at its end: "'y' was not computed: 'z' took another branch". Empty if
/// it does not, or goes on.
std::string whyMissed(const Debugger& debugger, graph::NodeId node);

}  // namespace debug
}  // namespace sonde::session
