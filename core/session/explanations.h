#pragma once

#include "core/session/session.h"
#include "core/session/why/receptive_field.h"

namespace sonde::session {

/// What an element of a node's value in the last run is made of (why::explain). Values that the run passed but did not
/// keep are requested (Values::request): with an executor that has threads they are an error until they have arrived.
base::Result<why::Explanation> explain(Session& session, const why::Place& place, const why::Options& options = {},
                                       const base::WorkContext& work = {});

/// The elements of the model's inputs that reach an element in the last run (why::receptiveField).
base::Result<why::ReceptiveField> receptiveField(Session& session, const why::Place& place,
                                                 const base::WorkContext& work = {});

}  // namespace sonde::session
