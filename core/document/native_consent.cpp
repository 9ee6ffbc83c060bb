#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mapped_file.h"
#include "core/document/format_plugin.h"
#include "core/document/native_library.h"
#include "core/document/plugin_notes.h"

namespace sonde::document {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 64;

/// An absolute path in an environment variable; the XDG Base Directory Specification says to ignore others.
fs::path folderOf(const char* variable) {
    const char* const text = std::getenv(variable);
    const fs::path path = text ? text : "";
    return path.is_absolute() ? path : fs::path();
}

}  // namespace

fs::path nativeAgreementsFile() {
    fs::path folder = folderOf("XDG_CONFIG_HOME");
    if (folder.empty() && !folderOf("HOME").empty()) folder = folderOf("HOME") / ".config";
    return folder.empty() ? fs::path() : folder / "sonde" / "allowed-libraries";
}

bool isNativeAgreed(const std::string& hash) {
    const fs::path path = nativeAgreementsFile();
    // Whoever may write the list decides what runs with this user's rights.
    struct stat status {};
    if (path.empty() || ::stat(path.c_str(), &status) != 0) return false;
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return false;
    std::ifstream list(path);
    for (std::string line; std::getline(list, line);) {
        if (hash.size() == kHashDigits && line.starts_with(hash) &&
            (line.size() == kHashDigits || line[kHashDigits] == ' '))
            return true;
    }
    return false;
}

base::Result<void> agreeToNative(const std::string& hash, const fs::path& path) {
    if (isNativeAgreed(hash)) return {};
    const fs::path list = nativeAgreementsFile();
    const auto failure = [&list](const std::string& why) {
        return base::runError("the agreement cannot be stored: " + why, list.string());
    };
    if (list.empty()) return failure("this user has no home folder");
    std::error_code code;
    fs::create_directories(list.parent_path(), code);
    if (code) return failure(code.message());
    std::string name = fs::absolute(path, code).string();
    for (char& c : name) {
        if (static_cast<unsigned char>(c) < 0x20) c = '?';  // one line for each library
    }
    // One write at the end of the file: two windows may do this at once.
    const std::string line = hash + "  " + name + '\n';
    const int file = ::open(list.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return failure("it cannot be opened");
    const bool good =
        ::fchmod(file, 0600) == 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    ::close(file);
    return good ? base::Result<void>() : failure("it cannot be written");
}

std::optional<NativeRequest> nativeRequest(const std::string& model) {
    const fs::path path = splitModelPath(model).first;
    if (!isNamedAsLibrary(path)) return std::nullopt;
    const auto mapped = base::MappedFile::open(path);
    if (!mapped || readPluginNotes((*mapped)->bytes()).empty()) return std::nullopt;
    const auto library = NativeLibrary::read(path);
    if (!library || isNativeAgreed((*library)->hash())) return std::nullopt;
    NativeRequest request{model, path, (*library)->hash(), {}};
    for (const PluginEntry& entry : readPluginNotes((*library)->bytes())) request.models.push_back(entry.model);
    if (request.models.empty()) return std::nullopt;
    return request;
}

}  // namespace sonde::document
