#include "core/session/sweep/sweep_inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <set>
#include <span>

#include "core/base/natural_order.h"
#include "core/document/input_infos.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/inputs.h"
#include "core/io/npz/npz.h"
#include "core/session/read_inputs.h"

namespace sonde::session {

namespace {

namespace fs = std::filesystem;

std::string suffixOf(const fs::path& path) {
    std::string suffix = path.extension().string();
    for (char& c : suffix) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return suffix;
}

enum class Kind : std::uint8_t { None, Archive, Value };

/// By its name, so that a damaged file is an input that fails, else by its content.
Kind kindOf(const fs::path& path) {
    if (suffixOf(path) == ".npz") return Kind::Archive;
    if (io::isNamedAsData(path.string())) return Kind::Value;
    std::array<char, 4096> head{};
    std::ifstream file(path, std::ios::binary);
    file.read(head.data(), head.size());
    const auto bytes = std::as_bytes(std::span(head.data(), static_cast<std::size_t>(file.gcount())));
    return io::dataFileKindOf(path.string(), bytes) ? Kind::Value : Kind::None;
}

/// "" for in.NAME, "case1" for case1.in.NAME, case2 before case10.
std::vector<std::string> casesOf(const fs::path& path) {
    const auto file = io::NpzFile::open(path);
    std::vector<std::string> cases;
    if (!file) return {""};
    const auto add = [&cases](std::string name) {
        if (std::ranges::find(cases, name) == cases.end()) cases.push_back(std::move(name));
    };
    for (const std::string& key : file->keys()) {
        // A recording frame by frame: the state of each frame is a result of the one before, and no array.
        if (key.starts_with("seq.")) continue;
        if (key.starts_with("in.")) add("");
        else if (const std::size_t at = key.find(".in."); at != std::string::npos) add(key.substr(0, at));
    }
    // Arrays by the names of inputs alone.
    if (cases.empty())
        for (const std::string& key : file->keys()) {
            if (key.starts_with("seq.")) continue;
            const std::size_t dot = key.find('.');
            const bool isCase = key.starts_with("case") && dot != std::string::npos && dot > 4 &&
                                std::all_of(key.begin() + 4, key.begin() + static_cast<std::ptrdiff_t>(dot),
                                            [](char c) { return c >= '0' && c <= '9'; });
            add(isCase ? key.substr(0, dot) : "");
        }
    if (cases.empty()) cases.emplace_back();
    std::ranges::sort(cases, base::isNaturallyBefore);
    return cases;
}

void addArchive(const fs::path& path, const std::string& name, bool isAlone, std::vector<SweepInput>& inputs) {
    const std::vector<std::string> cases = casesOf(path);
    for (const std::string& each : cases) {
        // The arrays without a case are case 0 of the keys of a reference, unless there is one of that name.
        const bool isFirst = each.empty() && cases.size() > 1 && std::ranges::find(cases, "case0") == cases.end();
        const std::string shown = isFirst ? "case0" : each;
        std::string title = isAlone ? shown : name + (shown.empty() ? "" : "#" + shown);
        if (title.empty()) title = name;
        inputs.push_back({std::move(title), path, each});
    }
}

}  // namespace

base::Result<SweepInputs> sweepInputs(const fs::path& path, const base::WorkContext& work) {
    SweepInputs found;
    std::error_code code;
    if (!fs::exists(path, code)) return base::usageError("no such file or folder", path.string());
    if (!fs::is_directory(path, code)) {
        if (kindOf(path) == Kind::Archive) addArchive(path, path.filename().string(), true, found.inputs);
        else if (kindOf(path) == Kind::Value) found.inputs.push_back({path.filename().string(), path, {}});
        else return base::usageError("neither a folder nor an archive, an array or a picture", path.string());
        return found;
    }
    std::vector<std::pair<std::string, fs::path>> files;
    fs::recursive_directory_iterator entries(path, fs::directory_options::skip_permission_denied, code);
    for (const auto end = fs::recursive_directory_iterator(); !code && entries != end; entries.increment(code)) {
        if (work.cancelled()) return base::cancelled("listing the inputs");
        const bool isHidden = entries->path().filename().string().starts_with('.');
        std::error_code ignored;
        if (isHidden && entries->is_directory(ignored)) entries.disable_recursion_pending();
        if (isHidden || entries->is_directory(ignored)) continue;
        std::string name = entries->path().lexically_relative(path).generic_string();
        // A link that leads nowhere is an input that fails; nobody reads a pipe or a device to see what it is.
        const bool isRead = entries->is_regular_file(ignored) || !fs::exists(entries->path(), ignored);
        if (isRead) files.emplace_back(std::move(name), entries->path());
        else found.leftOut.push_back(std::move(name));
    }
    if (code) return base::usageError("the folder cannot be listed: " + code.message(), path.string());
    std::ranges::sort(files, [](const auto& a, const auto& b) { return base::isNaturallyBefore(a.first, b.first); });
    for (const auto& [name, file] : files) {
        if (work.cancelled()) return base::cancelled("listing the inputs");
        switch (kindOf(file)) {
            case Kind::Archive: addArchive(file, name, false, found.inputs); break;
            case Kind::Value: found.inputs.push_back({name, file, {}}); break;
            case Kind::None: found.leftOut.push_back(name); break;
        }
    }
    if (found.inputs.empty())
        return base::usageError("the folder has neither pictures nor arrays (.npy, .npz)", path.string());
    return found;
}

base::Result<std::vector<tensor::Value>> readSweepInput(const document::Document& document, const SweepInput& input,
                                                        const std::string& preset, std::uint64_t seed,
                                                        const base::WorkContext& work) {
    const std::string path = input.path.string();
    const auto plain = [&]() -> base::Result<std::vector<tensor::Value>> {
        io::InputOptions options;
        options.seed = seed;
        options.hasDefault = document::defaultsOf(document);
        if (const io::ImagePreset* found = io::findImagePreset(preset)) options.image = found->options;
        if (kindOf(input.path) == Kind::Archive) {
            const std::string item = input.caseName.empty() ? path : path + "#" + input.caseName;
            SONDE_ASSIGN(auto cases, io::makeInputs(item, document::requiredInputInfos(document), options, work));
            if (cases.empty()) return base::usageError("the archive has no input", path);
            return std::move(cases.front().values);
        }
        std::vector<tensor::Value> values;
        const std::vector<io::InputInfo> infos = document::requiredInputInfos(document);
        for (std::size_t i = 0; i < infos.size(); ++i) {
            SONDE_ASSIGN(tensor::Value value,
                         io::makeInput(i == 0 ? path : io::defaultItem(infos[i]), infos[i], i, options));
            values.push_back(std::move(value));
        }
        return values;
    };
    auto values = plain();
    if (!values && values.error().where.find(path) == std::string::npos) {
        base::Error error = values.error();
        error.where = path + (error.where.empty() ? "" : ", " + error.where);
        return error;
    }
    return values;
}

base::Result<std::vector<std::vector<tensor::Value>>> readArchiveCases(const document::Document& document,
                                                                       const InputData& data,
                                                                       const base::WorkContext& work) {
    std::vector<std::vector<tensor::Value>> values;
    const fs::path path(data.spec);
    std::error_code code;
    if (suffixOf(path) != ".npz" || !fs::is_regular_file(path, code)) return values;
    SONDE_ASSIGN(const SweepInputs found, sweepInputs(path, work));
    if (found.inputs.size() < 2) return values;
    for (const SweepInput& input : found.inputs) {
        SONDE_ASSIGN(std::vector<tensor::Value> one, readSweepInput(document, input, data.preset, data.seed, work));
        values.push_back(std::move(one));
    }
    return values;
}

}  // namespace sonde::session
