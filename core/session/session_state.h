#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/document/session_model.h"
#include "core/session/session.h"

namespace sonde::session {

/// What a session has, for a file in `folder`; what it does not know itself is taken from Session::fileBase(). Without
/// the model, which takes its time: see document::sessionModelOf(). Only with a document.
io::SessionFile sessionFileOf(const Session& session, const std::filesystem::path& folder);

/// Writes the session to a file, its model with it. Blocks. Errors: the model's file cannot be read; those of
/// io::writeSession(); no model is open.
base::Result<void> saveSession(const Session& session, const std::filesystem::path& path);

/// The session becomes as the file was that its document was opened by (Document::session), but for the values of
/// inputs. Tells nobody. What could not be restored, a line for each: "breakpoint 'conv9': …".
std::vector<std::string> restoreSession(Session& session);

/// The rows that the file gives for the inputs: session::Inputs::restore() takes them. Error (Unreadable): one of them
/// is outside of the session's folder.
base::Result<std::vector<std::pair<std::string, InputSpec>>> sessionInputs(const document::Document& document);

/// The values that the file gives for the document's inputs, a case for each run. `seed`: in place of the file's.
/// Blocks. Errors: a file is outside of the session's folder; cannot be read.
base::Result<std::vector<io::InputCase>> readSessionCases(const document::Document& document,
                                                          std::optional<std::uint64_t> seed,
                                                          const base::WorkContext& work = {});

}  // namespace sonde::session
