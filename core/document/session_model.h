#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/io/session_file/session_file.h"

namespace sonde::document {

/// A session file that was read, with the model that it is about.
struct OpenedSession {
    std::filesystem::path path;    ///< as given
    std::filesystem::path folder;  ///< absolute
    io::SessionFile file;
    std::string model;           ///< what to open: path or "zoo:NAME"
    bool allowsOutside = false;  ///< files outside the folder may be read
    bool hasOtherModel = false;  ///< the user named another one, OpenOptions::sessionModel
};

/// Whether the model of a session can be opened, and why not.
struct SessionModel {
    enum class State : std::uint8_t {
        Found,
        Missing,  ///< no file there
        Outside,  ///< a file outside of the session's folder, which the user did not agree to read
        Changed   ///< the file there has another content
    };
    State state = State::Found;
    std::string location;                   ///< where it is, or was expected
    std::string actual;                     ///< Changed: SHA-256 of the file that is there
    std::optional<base::Error> error = {};  ///< if not Found; its hint names the options of the command line
};

/// Whether a file is a session file, by its content; false if it cannot be read.
bool isSessionFile(const std::string& model);

/// Reads a session file. Its model is looked for where it says, then under that name beside it, and is the one only if
/// the SHA-256 is the same. Nothing outside of its folder is read, but for what `options` allow. Errors: those of
/// io::readSession().
base::Result<std::pair<OpenedSession, SessionModel>> readSessionModel(const std::filesystem::path& path,
                                                                      const OpenOptions& options);
/// The same, with SessionModel::error as error.
base::Result<OpenedSession> openSession(const std::filesystem::path& path, const OpenOptions& options);

/// The options of opening its model: those of the file, but for what `given` says.
base::Result<OpenOptions> sessionOptions(const OpenedSession& session, const OpenOptions& given);

/// What a model is known by in a session file in `folder`: path, SHA-256, size, how it was traced. Reads the whole
/// file. Error (Unreadable): it cannot be read.
base::Result<io::SessionFile::Model> sessionModelOf(const Document& document, const std::filesystem::path& folder);

/// A path in a session's folder relative to it, any other one absolute.
std::string storedPath(const std::filesystem::path& path, const std::filesystem::path& folder);
/// The item of an input specification ("photo.png", "a.npz#key", "@list.txt", "#zeros") with storedPath(), and the way
/// back.
std::string storedItem(const std::string& item, const std::filesystem::path& folder);
std::string itemOf(const std::string& stored, const std::filesystem::path& folder);

/// Links and ".." included: whether the file is in the folder or below it.
bool isInFolder(const std::filesystem::path& path, const std::filesystem::path& folder);
/// Error (Unreadable): the session may not read what an item names, because it is outside of its folder.
base::Result<void> checkItem(const OpenedSession& session, const std::string& item);

}  // namespace sonde::document
