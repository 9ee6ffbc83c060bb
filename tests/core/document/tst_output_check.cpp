// No output may replace a file that is read, whatever name it goes by.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <unistd.h>

#include "core/document/document.h"
#include "core/document/output_check.h"
#include "tests/support/onnx_file.h"

namespace tst_output_check {

using namespace sonde;
namespace fs = std::filesystem;
using document::FileRead;

class TestOutputCheck : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(put("m.onnx"));
    }

    void oneFileByOtherNames() {
        const fs::path model = at("m.onnx");
        fs::create_hard_link(model, at("hard.onnx"));
        fs::create_symlink("m.onnx", at("soft.onnx"));
        fs::create_directory(at("sub"));
        fs::create_directory_symlink(at("."), at("folder"));
        for (const char* name : {"m.onnx", "hard.onnx", "soft.onnx", "./m.onnx", "sub/../m.onnx", "folder/soft.onnx"}) {
            QVERIFY2(document::isSameFile(at(name), model), name);
            const auto checked = document::checkOutput(at(name), "--out", document::modelFiles(model.string()));
            QVERIFY2(!checked, name);
            QCOMPARE(checked.error().kind, base::ErrorKind::Usage);
            QCOMPARE(checked.error().where, std::string("--out"));
            const bool isOwnName = at(name) == model;
            QCOMPARE(checked.error().what, "'" + at(name).string() + "' is the model file" +
                                               (isOwnName ? "" : ", " + model.string()) + ": it would be overwritten");
        }
    }

    void otherFilesAreFree() {
        const std::vector<FileRead> files = document::modelFiles(at("m.onnx").string());
        QVERIFY(put("copy.onnx"));
        for (const char* name : {"copy.onnx", "new.npz", "none/new.npz"})
            QVERIFY2(document::checkOutput(at(name), "--out", files), name);
        // A device takes what it is given, and keeps nothing.
        for (const char* device : {"/dev/null", "/dev/zero"}) {
            QVERIFY(document::checkOutput(device, "--out", std::vector<FileRead>{{device, "an input file"}}));
            QVERIFY(!document::isSameFile(device, device));
        }
    }

    /// What the names of open files ("/dev/stdout", "/dev/fd/5") stand for: a pipe keeps nothing, a file does.
    void namesOfOpenFiles() {
        int pipe[2];
        QCOMPARE(::pipe(pipe), 0);
        const std::string throughPipe = "/dev/fd/" + std::to_string(pipe[1]);
        QVERIFY(document::checkOutput(throughPipe, "-o", std::vector<FileRead>{{throughPipe, "an input file"}}));
        QVERIFY(!document::isSameFile(throughPipe, throughPipe));
        ::close(pipe[0]);
        ::close(pipe[1]);
        QFile model(m_folder->filePath("m.onnx"));
        QVERIFY(model.open(QIODevice::ReadOnly));
        const std::string open = "/dev/fd/" + std::to_string(model.handle());
        const auto checked = document::checkOutput(open, "-o", document::modelFiles(at("m.onnx").string()));
        QVERIFY(!checked);
        QCOMPARE(checked.error().what,
                 "'" + open + "' is the model file, " + at("m.onnx").string() + ": it would be overwritten");
        QVERIFY(document::isSameFile(open, at("m.onnx")));
    }

    void filesThatAreNotThereYet() {
        QVERIFY(document::isSameFile(at("a.npz"), at("sub/../a.npz")));
        QVERIFY(!document::isSameFile(at("a.npz"), at("b.npz")));
        QVERIFY(!document::isSameFile(at("a.npz"), at("m.onnx")));
        fs::create_symlink("later.npz", at("link.npz"));
        QVERIFY(document::isSameFile(at("link.npz"), at("later.npz")));
    }

    void whatIsReadBesideTheModel() {
        document::OpenOptions options;
        options.weights = at("w.npz").string();
        options.inputData = "x:" + at("example.npy").string();
        const std::vector<std::string> specs{"x:" + at("a.npz").string() + "#k", at("b.png").string()};
        const auto files = document::inputFiles(options, specs);
        const auto roleOf = [&](const char* name) {
            const auto found = std::ranges::find(files, at(name), &FileRead::path);
            return found == files.end() ? std::string_view() : found->role;
        };
        QVERIFY(roleOf("w.npz") == "the file of weights");
        for (const char* name : {"example.npy", "a.npz", "b.png"}) QVERIFY2(roleOf(name) == "an input file", name);
    }

    /// Weights in a file beside an ONNX model are the model's.
    void dataFilesAreTheModels() {
        using namespace test::onnxfile;
        Graph graph;
        graph.nodes = {{"Add", {"x", "w"}, {"y"}}};
        graph.inputs = {valueInfo("x", 1, {2})};
        graph.outputs = {valueInfo("y", 1, {2})};
        graph.initializers = {externalTensor("w", {2}, {{"location", "w.bin"}})};
        QFile data(m_folder->filePath("w.bin"));
        QVERIFY(data.open(QIODevice::WriteOnly) && data.write(QByteArray(8, '\0')) == 8);
        data.close();
        QVERIFY(write(m_folder->filePath("w.onnx"), test::onnxfile::model(graph)));
        const auto opened = document::open(at("w.onnx").string());
        QVERIFY2(opened, opened ? "" : opened.error().text().c_str());
        const auto files = document::modelFiles(**opened);
        const auto ofModel = document::checkOutput(at("w.onnx"), "-o", files);
        const auto ofData = document::checkOutput(at("w.bin"), "-o", files);
        QVERIFY(!ofModel && ofModel.error().what.find("is the model file:") != std::string::npos);
        QVERIFY(!ofData && ofData.error().what.find("is a file of the model:") != std::string::npos);
    }

  private:
    fs::path at(const char* name) const { return fs::path(m_folder->path().toStdString()) / name; }
    bool put(const char* name) const {
        using namespace test::onnxfile;
        Graph graph;
        graph.nodes = {{"Relu", {"x"}, {"y"}}};
        graph.inputs = {valueInfo("x", 1, {2})};
        graph.outputs = {valueInfo("y", 1, {2})};
        return write(m_folder->filePath(name), test::onnxfile::model(graph));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestOutputCheck)

}  // namespace tst_output_check

#include "tst_output_check.moc"
