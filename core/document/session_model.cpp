#include "core/document/session_model.h"

#include <algorithm>
#include <functional>

#include "core/base/mapped_file.h"
#include "core/base/unicode.h"
#include "core/document/format_plugin.h"
#include "core/document/sha256.h"
#include "core/io/inputs/named_files.h"

namespace sonde::document {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kBuiltIn = "zoo:";

bool isBuiltIn(const std::string& model) { return model.starts_with(kBuiltIn); }

fs::path fileIn(const std::string& stored, const fs::path& folder) {
    const fs::path path(stored);
    return path.is_absolute() ? path : folder / path;
}

bool isFile(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

/// An item with each of its paths as `change` has it.
std::string withPaths(const std::string& item, const std::function<std::string(const std::string&)>& change) {
    std::string text;
    std::size_t done = 0;
    for (const auto& [begin, size] : io::pathsInItem(item)) {
        text += item.substr(done, begin - done) + change(item.substr(begin, size));
        done = begin + size;
    }
    return text + item.substr(done);
}

std::string modelHint(std::string_view rest) { return "--model FILE opens the session with " + std::string(rest); }

SessionModel missing(const io::SessionFile::Model& model, const fs::path& session, std::string location) {
    return {SessionModel::State::Missing,
            std::move(location),
            {},
            base::unreadable("the model of the session was not found: " + model.path + " with SHA-256 " + model.sha256,
                             session.string(), modelHint("that file from another place"))};
}

SessionModel outside(const fs::path& session, const std::string& location) {
    return {SessionModel::State::Outside,
            location,
            {},
            base::unreadable("the model of the session is outside of its folder: " + location, session.string(),
                             "--allow-outside reads it; " + modelHint("another file"))};
}

base::Result<SessionModel> checked(const io::SessionFile::Model& model, const fs::path& session,
                                   const std::string& location) {
    SONDE_ASSIGN(const auto file, base::MappedFile::open(splitModelPath(location).first));
    std::string actual = sha256(file->bytes());
    if (actual == model.sha256) return SessionModel{SessionModel::State::Found, location, {}, {}};
    base::Error error =
        base::unreadable("the model is not the one that the session was saved with: " + location + " has SHA-256 " +
                             actual + ", not " + (model.sha256.empty() ? std::string("given") : model.sha256),
                         session.string(), modelHint("it all the same, and finds points by name and module"));
    return SessionModel{SessionModel::State::Changed, location, std::move(actual), std::move(error)};
}

base::Result<SessionModel> findModel(const OpenedSession& session, const OpenOptions& options) {
    const io::SessionFile::Model& model = session.file.model;
    if (!options.sessionModel.empty()) return SessionModel{SessionModel::State::Found, options.sessionModel, {}, {}};
    if (isBuiltIn(model.path)) return SessionModel{SessionModel::State::Found, model.path, {}, {}};
    const std::string location = fileIn(model.path, session.folder).string();
    const fs::path file = splitModelPath(location).first;
    const bool isOutside = !isInFolder(file, session.folder);
    if ((!isOutside || session.allowsOutside) && isFile(file)) {
        SONDE_ASSIGN(SessionModel found, checked(model, session.path, location));
        if (found.state == SessionModel::State::Found) return found;
        // A file of that name may also be beside the session.
        const fs::path beside = session.folder / fs::path(location).filename();
        if (!isOutside || !isFile(splitModelPath(beside.string()).first)) return found;
    }
    const std::string beside = (session.folder / fs::path(location).filename()).string();
    const fs::path besideFile = splitModelPath(beside).first;
    if (isFile(besideFile) && isInFolder(besideFile, session.folder)) {
        SONDE_ASSIGN(SessionModel found, checked(model, session.path, beside));
        if (found.state == SessionModel::State::Found || !isOutside) return found;
    }
    // Without consent nobody learns from a session whether a file outside is there.
    if (isOutside && !session.allowsOutside) return outside(session.path, location);
    return missing(model, session.path, location);
}

}  // namespace

bool isInFolder(const fs::path& path, const fs::path& folder) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    if (error) return false;
    const fs::path root = fs::weakly_canonical(folder, error);
    if (error) return false;
    const fs::path relative = whole.lexically_relative(root);
    return !relative.empty() && *relative.begin() != "..";
}

std::string storedPath(const fs::path& path, const fs::path& folder) {
    std::error_code ignored;
    const fs::path whole = fs::absolute(path, ignored).lexically_normal();
    if (!isInFolder(whole, folder)) return whole.string();
    const fs::path relative = whole.lexically_relative(fs::absolute(folder, ignored).lexically_normal());
    if (!relative.empty() && *relative.begin() != "..") return relative.string();
    return fs::weakly_canonical(whole, ignored).lexically_relative(fs::weakly_canonical(folder, ignored)).string();
}

std::string storedItem(const std::string& item, const fs::path& folder) {
    if (item.starts_with('@')) return '@' + storedPath(item.substr(1), folder);
    return withPaths(item, [&folder](const std::string& path) { return storedPath(path, folder); });
}

std::string itemOf(const std::string& stored, const fs::path& folder) {
    if (stored.starts_with('@')) return '@' + fileIn(stored.substr(1), folder).string();
    return withPaths(stored, [&folder](const std::string& path) { return fileIn(path, folder).string(); });
}

base::Result<void> checkItem(const OpenedSession& session, const std::string& item) {
    if (session.allowsOutside) return {};
    const bool isList = item.starts_with('@');
    const auto paths = io::pathsInItem(item);
    const bool isInside = std::ranges::all_of(paths, [&](const auto& place) {
        return isInFolder(fileIn(item.substr(place.first, place.second), session.folder), session.folder);
    });
    if (!isList && isInside) return {};
    return base::unreadable(
        (isList ? "the session names a list of further files: " : "the session names a file outside of its folder: ") +
            item.substr(0, io::SessionFile::kMaxName),
        session.path.string(), "--allow-outside reads it");
}

bool isSessionFile(const std::string& model) {
    if (model.empty() || isBuiltIn(model) || !isFile(model)) return false;
    const auto file = base::MappedFile::open(model);
    return file && io::looksLikeSession((*file)->window(0, std::min<std::size_t>((*file)->sizeBytes(), 4'096)));
}

base::Result<std::pair<OpenedSession, SessionModel>> readSessionModel(const fs::path& path,
                                                                      const OpenOptions& options) {
    OpenedSession session;
    session.path = path;
    std::error_code error;
    session.folder = fs::absolute(path, error).lexically_normal().parent_path();
    SONDE_ASSIGN(session.file, io::readSession(path));
    session.allowsOutside = options.allowOutside;
    session.hasOtherModel = !options.sessionModel.empty();
    SONDE_ASSIGN(SessionModel model, findModel(session, options));
    session.model = model.location;
    if (model.state == SessionModel::State::Found && isSessionFile(session.model))
        return base::unreadable("the model of the session is a session itself", path.string());
    return std::pair(std::move(session), std::move(model));
}

base::Result<OpenedSession> openSession(const fs::path& path, const OpenOptions& options) {
    SONDE_ASSIGN(auto read, readSessionModel(path, options));
    if (read.second.error) return std::move(*read.second.error);
    return std::move(read.first);
}

base::Result<OpenOptions> sessionOptions(const OpenedSession& session, const OpenOptions& given) {
    const io::SessionFile::Model& model = session.file.model;
    OpenOptions options = given;
    options.allowOutside = false;
    options.sessionModel.clear();
    // Who says how to trace says all of it.
    const bool isSaid = !given.tracer.empty() || !given.leaves.empty() || !given.concrete.empty() || given.flatten;
    if (!isSaid) {
        options.tracer = model.tracer;
        options.leaves = model.leaves;
        options.flatten = model.flatten;
        for (const std::string& text : model.concrete) {
            const std::size_t equals = text.find('=');
            if (equals == std::string::npos || equals == 0)
                return base::unreadable("model.concrete: '" + text + "' is not NAME=VALUE", session.path.string());
            options.concrete.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    options.groups = given.groups && model.groups;
    if (given.passes.empty()) options.passes = model.passes;
    if (given.weights.empty() && !model.weights.empty()) {
        SONDE_TRY(checkItem(session, model.weights));
        options.weights = fileIn(model.weights, session.folder).string();
    }
    if (given.inputData.empty() && !model.example.empty()) {
        SONDE_TRY(checkItem(session, model.example));
        options.inputData = itemOf(model.example, session.folder);
    }
    return options;
}

namespace {

/// JSON has no bytes: a name that is no text would become that of another file.
base::Result<void> checkText(const std::string& path) {
    const auto isByte = [](char32_t c) { return c >= 0xDC80 && c <= 0xDCFF; };
    if (std::ranges::none_of(base::codePoints(path), isByte)) return {};
    return base::usageError("a session cannot keep the name of a file that is not UTF-8", path, "rename the file");
}

}  // namespace

base::Result<io::SessionFile::Model> sessionModelOf(const Document& document, const fs::path& folder) {
    io::SessionFile::Model model;
    model.path = document.location;
    if (!isBuiltIn(document.location)) {
        const auto [path, name] = splitModelPath(document.location);
        SONDE_TRY(checkText(path.string()));
        SONDE_ASSIGN(const auto file, base::MappedFile::open(path));
        model.path = storedPath(path, folder) + (name.empty() ? "" : '#' + name);
        model.sha256 = sha256(file->bytes());
        model.bytes = file->sizeBytes();
        if (file->hasChanged()) return file->changeError("model file");
    }
    const OpenOptions& options = document.options;
    model.format = document.format;
    model.tracer = options.tracer;
    model.leaves = options.leaves;
    for (const auto& [key, value] : options.concrete) model.concrete.push_back(key + '=' + value);
    model.flatten = options.flatten;
    model.groups = options.groups;
    model.passes = options.passes;
    if (!options.weights.empty()) model.weights = storedPath(options.weights, folder);
    model.example = storedItem(options.inputData, folder);
    return model;
}

}  // namespace sonde::document
