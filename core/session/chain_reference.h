#pragma once

#include <memory>
#include <string>

#include "core/session/session.h"
#include "core/session/why/chain.h"

namespace sonde::session {

/// What the values of a run should be: those that it has without its edits, those of a reference file, or those that
/// another model gives on the same inputs.
struct ChainReference {
    std::shared_ptr<debug::RecordedRun> baseline;
    std::string file;         ///< .npz, or a model: a path or "zoo:NAME"
    std::uint64_t seed = 0;   ///< of another model's run
    std::size_t threads = 0;  ///< likewise

    explicit operator bool() const { return baseline || !file.empty(); }
};

/// What a session has of that: of a debugged run with edits, if that is the one looked at, the one without them, else
/// the reference file or the model that the last comparison was with. On the session's thread; the debugged run must
/// not go on.
ChainReference chainReference(Session& session, bool isDebugged = true);
/// The values of a file: .npz or a model.
ChainReference chainReferenceOf(const Session& session, const std::string& file);

/// The chain of an element in a run as it is seen from a place: along what differs from the reference
/// (why::referenceChain), or along the largest terms if there is none. `mustDiffer`: an element that the reference has
/// no other value of is an error, and not followed along the largest terms. Another model is opened and run each time.
base::Result<why::Chain> followChain(const debug::View& view, const why::Place& place, why::Reader& reader,
                                     const ChainReference& reference, bool mustDiffer,
                                     const why::ChainOptions& options = {}, const base::WorkContext& work = {});

}  // namespace sonde::session
