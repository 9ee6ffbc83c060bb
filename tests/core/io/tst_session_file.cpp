// Session files as text: what is written is read again, and whatever else a file holds is refused in one line that
// names the key. The texts below are worked by hand from the published keys.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>

#include "core/io/session_file/session_file.h"

namespace tst_session_file {

using namespace sonde;
using io::SessionFile;
namespace fs = std::filesystem;

namespace {

const std::string kHash(64, 'a');

SessionFile everything() {
    SessionFile file;
    file.model = {"m/x.onnx", kHash, 12,    "ONNX",   "module-path", {"Block"},
                  {"n=3"},    true,  false, {"fold"}, "w.npz",       "x:a.npy"};
    file.inputData = "x:a.npy;mask:#rand(0,1)";
    file.inputPreset = "imagenet";
    file.seed = UINT64_MAX;
    file.inputs = {{"x", "photo.png", "bgr", false}, {"ids", "[[1,2]]", "unit", true}};
    file.watched = {{"conv1", "layer1.0", "conv1\tlayer1.0"}};
    file.ends = {{"fc", "", ""}};
    file.groups = {{"call", "layer1", 2}};
    file.policy = SessionFile::Policy{"sample", 1'000'000, 10};
    file.expressions = {{"max(abs(fc))", SessionFile::Node{"fc", "fc", ""}, false}};
    file.breakpoints = {{"op:Relu", "has_nan(fc)", false, true, {}, 3}, {"fc", "mean(fc)", true, false, "fc", 0}};
    file.notes = {{{"fc", "fc", ""}, "two\nlines \xc3\xa4"}};
    file.accepted = {{"mask", "", ""}};
    file.tolerances = {1e-3, 1e-2, 0.5};
    file.references = {"ref.npz"};
    file.view = {{"camera", "1,2,3"}, {"expanded", "layer1"}};
    file.others = {{"from_the_future", "{\"a\":[1,null]}"}};
    return file;
}

/// JSON with ' in place of ".
std::string json(std::string text) {
    std::ranges::replace(text, '\'', '"');
    return text;
}

/// A file with the smallest model and `rest`.
std::string minimal(const std::string& rest = {}, const std::string& version = "1") {
    return json("{'format':'sonde-session','version':") + version + json(",'model':{'path':'x.onnx','sha256':'") +
           kHash + "\"}" + rest + "}";
}

std::string errorOf(const std::string& text) {
    const auto read = io::parseSession(text);
    return read ? std::string() : read.error().what;
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
std::string contentOf(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

class TestSessionFile : public QObject {
    Q_OBJECT

  private slots:
    void everythingComesBack() {
        const std::string text = io::sessionText(everything());
        const auto read = io::parseSession(text);
        QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
        QVERIFY(*read == everything());
        QCOMPARE(io::sessionText(*read), text);
        QVERIFY(io::looksLikeSession(std::as_bytes(std::span(text))));
    }

    void aSizeWithoutAHashComesBack() {
        const auto read =
            io::parseSession(R"({"format":"sonde-session","version":1,"model":{"path":"a.onnx","bytes":12}})");
        QVERIFY(read.has_value());
        const auto again = io::parseSession(io::sessionText(*read));
        QVERIFY(again.has_value());
        QCOMPARE(again->model.bytes, std::uint64_t{12});
    }

    void publishedKeysAreRead() {
        const auto read = io::parseSession(
            minimal(json(",'breakpoints':[{'at':'nan'},{'at':'fc','log':'mean(fc)','enabled':false}],'seed':7,"
                         "'notes':[{'node':{'name':'fc'},'text':'look'}],'comparison':{'tolerances':{'rtol':0.01}}")));
        QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
        QCOMPARE(read->breakpoints.size(), std::size_t{2});
        QVERIFY(!read->breakpoints[0].isLog && read->breakpoints[0].isEnabled);
        QVERIFY(read->breakpoints[1].isLog && !read->breakpoints[1].isEnabled);
        QCOMPARE(read->breakpoints[1].expression, std::string("mean(fc)"));
        QCOMPARE(read->seed, std::uint64_t{7});
        QCOMPARE(read->notes[0].text, std::string("look"));
        QCOMPARE(read->tolerances.relative, std::optional(0.01));
    }

    void whatIsWrongIsNamed_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("what");
        const auto row = [](const char* name, const std::string& text, const char* what) {
            QTest::newRow(name) << QString::fromStdString(text) << what;
        };
        row("empty", "", "no JSON at byte");
        row("other format", json("{'format':'sonde-graph','version':1}"), "format is 'sonde-graph'");
        row("newer", minimal("", "2"), "version 2 is newer");
        row("no version", minimal("", "0"), "version is missing or 0");
        row("no model", json("{'format':'sonde-session','version':1}"), "model is missing");
        row("no path", json("{'format':'sonde-session','version':1,'model':{}}"), "model.path is missing");
        row("hash", json("{'format':'sonde-session','version':1,'model':{'path':'x','sha256':'AB'}}"), "model.sha256");
        row("type", minimal(json(",'notes':[{'node':{'name':'a'},'text':'b'},{'node':3,'text':'c'}]")),
            "notes[1].node");
        row("unknown", minimal(json(",'inputs':[{'name':'x','source':'1','hue':2}]")), "unknown key inputs[0].hue");
        row("twice", minimal(json(",'seed':1,'seed':2")), "'seed' is given twice");
        row("negative", minimal(json(",'seed':-1")), "seed is no integer");
        row("huge", minimal(json(",'seed':99999999999999999999")), "seed is no integer");
        row("infinite", minimal(json(",'comparison':{'tolerances':{'rtol':1e999}}")), "");
        row("fraction", minimal(json(",'watch_groups':[{'kind':'call','call':1.5}]")), "watch_groups[0].call");
        row("beyond every integer", minimal(json(",'watch_groups':[{'kind':'call','call':18446744073709551615}]")),
            "watch_groups[0].call");
        row("both", minimal(json(",'breakpoints':[{'at':'a','if':'b','log':'c'}]")), "both if and log");
        row("control", minimal(json(",'end_points':[{'name':'a\\u0000b'}]")), "end_points[0].name contains control");
        row("deep", minimal(",\"view\":" + std::string(1'000'000, '[')), "nested deeper");
        row("long", minimal(",\"end_points\":[{\"name\":\"" + std::string(5'000, 'x') + "\"}]"), "longer than 4096");
        row("many",
            minimal(",\"references\":0,\"end_points\":[1" +
                    [] {
                        std::string rest;
                        for (int i = 0; i < 10'000; ++i) rest += ",1";
                        return rest;
                    }() +
                    "]"),
            "more than 10000 items");
        row("large", std::string(SessionFile::kMaxBytes + 1, ' '), "larger than 4 MiB");
        row("not utf-8", minimal(",\"view\":{\"a\":\"\xff\"}"), "no JSON at byte");
    }
    void whatIsWrongIsNamed() {
        QFETCH(QString, text);
        QFETCH(QString, what);
        std::string bytes = text.toStdString();
        if (QByteArray(QTest::currentDataTag()) == "not utf-8") bytes = minimal(",\"view\":{\"a\":\"\xff\"}");
        const std::string error = errorOf(bytes);
        QVERIFY2(!error.empty() && QString::fromStdString(error).contains(what), error.c_str());
        QVERIFY(error.find('\n') == std::string::npos);
    }

    /// Cut off anywhere, it is refused; with any byte changed, it is read as something or refused, and never more.
    void mutationsAreRead() {
        const std::string text = io::sessionText(everything());
        const std::string whole = text.substr(0, text.find_last_of('}') + 1);
        for (std::size_t size = 0; size < whole.size(); ++size) QVERIFY(!errorOf(whole.substr(0, size)).empty());
        std::mt19937 random(1);
        std::size_t refused = 0;
        for (int i = 0; i < 3'000; ++i) {
            std::string changed = text;
            for (unsigned n = 1 + random() % 3; n > 0; --n)
                changed[random() % changed.size()] = static_cast<char>(random() % 256);
            const auto read = io::parseSession(changed);
            refused += read ? 0 : 1;
            // What was read can be written and is the same again.
            if (read) QVERIFY(io::parseSession(io::sessionText(*read)).has_value());
        }
        QVERIFY(refused > 1'000);
    }

    void writingIsAtomicAndKeepsPermissions() {
        QTemporaryDir folder;
        const fs::path path = fs::path(folder.path().toStdString()) / "a.sonde";
        QVERIFY(io::writeSession(path, everything()).has_value());
        QCOMPARE(::chmod(path.c_str(), 0600), 0);
        SessionFile other = everything();
        other.seed = 3;
        const fs::path link = path.parent_path() / "link.sonde";
        fs::create_symlink("a.sonde", link);
        QVERIFY(io::writeSession(link, other).has_value());
        QVERIFY(fs::is_symlink(link));
        const auto read = io::readSession(path);
        QVERIFY(read && *read == other);
        struct stat now {};
        QCOMPARE(::stat(path.c_str(), &now), 0);
        QCOMPARE(now.st_mode & 07777, mode_t{0600});
        // Nothing is left beside it.
        QCOMPARE(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()), 2);
    }

    void otherFilesAreNotOverwritten() {
        QTemporaryDir folder;
        const fs::path path = fs::path(folder.path().toStdString()) / "model.sonde";
        write(path, "weights");
        const auto written = io::writeSession(path, everything());
        QVERIFY(!written && written.error().what.find("no session file") != std::string::npos);
        QCOMPARE(contentOf(path), std::string("weights"));
        // One that nobody may write, in a folder where a file of its name could be made: also for root.
        const fs::path locked = path.parent_path() / "locked.sonde";
        QVERIFY(io::writeSession(locked, everything()).has_value());
        QCOMPARE(::chmod(locked.c_str(), 0444), 0);
        io::SessionFile changed = everything();
        changed.seed += 1;
        const auto refused = io::writeSession(locked, changed);
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().kind, base::ErrorKind::Run);
        QCOMPARE(refused.error().what, std::string("the file cannot be written: Permission denied"));
        QCOMPARE(*io::readSession(locked), everything());
        struct stat kept {};
        QCOMPARE(::stat(locked.c_str(), &kept), 0);
        QCOMPARE(kept.st_mode & 07777, mode_t{0444});
        const auto gone = io::writeSession(path.parent_path() / "none" / "a.sonde", everything());
        QVERIFY(!gone && gone.error().kind == base::ErrorKind::Run);
    }

    /// What could not be read again is not written.
    void tooMuchIsNotWritten() {
        QTemporaryDir folder;
        const fs::path path = fs::path(folder.path().toStdString()) / "a.sonde";
        SessionFile file = everything();
        file.notes[0].text.assign(SessionFile::kMaxText + 1, 'x');
        const auto written = io::writeSession(path, file);
        QVERIFY(!written && written.error().what.find("notes[0].text") != std::string::npos);
        QVERIFY(!fs::exists(path));
    }
};

QTEST_GUILESS_MAIN(TestSessionFile)

}  // namespace tst_session_file

#include "tst_session_file.moc"
