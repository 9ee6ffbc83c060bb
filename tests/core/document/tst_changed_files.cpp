// Model files that change at random moments while their model is opened and run: an error or the right values, never a
// crash and never a wrong value. The model is y = W x with every weight v and every x 1, so that y = 256 v exactly.

#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/graph/source_files.h"
#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "core/io/onnx/onnx_writer.h"
#include "core/tensor/mapped_source.h"
#include "tests/support/changing_file.h"
#include "tests/support/onnx_file.h"

namespace tst_changed_files {

using namespace sonde;
using test::FileChange;
namespace onnx = test::onnxfile;

namespace {

constexpr int kSize = 256;

std::string weightBytes(int version) {
    std::string raw(std::size_t{kSize} * kSize * sizeof(float), '\0');
    const auto value = static_cast<float>(version);
    for (std::size_t i = 0; i < raw.size(); i += sizeof value) std::memcpy(raw.data() + i, &value, sizeof value);
    return raw;
}

/// `shift` bytes of text before the weights: how they are aligned in the file.
std::string modelBytes(const std::string& initializer, std::size_t shift) {
    onnx::Graph graph{{{"MatMul", {"x", "w"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {4, kSize})},
                      {onnx::valueInfo("y", 1, {4, kSize})},
                      {initializer}};
    graph.name = std::string(shift, 'g');
    return onnx::model(graph);
}

std::string inlineModel(int version, std::size_t shift) {
    return modelBytes(onnx::rawTensor("w", 1, {kSize, kSize}, weightBytes(version)), shift);
}

tensor::Value ones() {
    return tensor::Value(tensor::Tensor::of<float>({4, kSize}, std::vector<float>(std::size_t{4} * kSize, 1.0F)));
}

bool isAll(const tensor::Value& value, float expected) {
    if (!value.isTensor() || value.tensor().numel() != 4 * kSize) return false;
    const float* const data = value.tensor().data<float>();
    return std::all_of(data, data + value.tensor().numel(), [expected](float each) { return each == expected; });
}

bool tellsOfChange(const base::Error& error) {
    return error.what == "model file changed on disk" || error.what == "model file can no longer be read from disk";
}

exec::Recording runOf(const document::Document& document, exec::Runner& runner, bool watchAll = false) {
    exec::PlanOptions options;
    options.watchAll = watchAll;
    const std::vector<tensor::Value> inputs{ones()};
    return runner.run(**exec::Plan::make(document.graph, options), inputs);
}

}  // namespace

class TestChangedFiles : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->filePath("model.onnx");
    }

    void aRunKnowsItsFiles() {
        QVERIFY(test::replaceFile(m_path, inlineModel(3, 0)));
        const auto opened = document::open(m_path.toStdString());
        QVERIFY(opened.has_value());
        QCOMPARE(graph::filesOf((*opened)->graph).size(), std::size_t{1});
        exec::Runner runner(2);
        const exec::Recording before = runOf(**opened, runner, true);
        QVERIFY(!before.error && isAll(before.outputs.front(), 3 * kSize));

        QVERIFY(test::overwriteFile(m_path, inlineModel(5, 0)));
        const exec::Recording after = runOf(**opened, runner, true);
        QVERIFY(after.error.has_value());
        QCOMPARE(after.error->what, std::string("model file changed on disk"));
        QCOMPARE(after.error->where, m_path.toStdString());
        QCOMPARE(after.error->kind, base::ErrorKind::Run);
        QVERIFY(after.outputs.empty() && after.kept.empty());
        const auto& nodes = after.computedNodes;
        QVERIFY(std::none_of(nodes.begin(), nodes.end(), [](bool computed) { return computed; }));
        QVERIFY(!graph::checkFiles((*opened)->graph));
    }

    void dataFilesBesideTheModelCount() {
        const std::string initializer = onnx::externalTensor("w", {kSize, kSize}, {{"location", "weights.bin"}});
        QVERIFY(test::replaceFile(m_path, modelBytes(initializer, 0)));
        const QString data = m_folder->filePath("weights.bin");
        for (const int change : {0, 1, 2}) {
            QVERIFY(test::replaceFile(data, weightBytes(2)));
            const auto opened = document::open(m_path.toStdString());
            QVERIFY(opened.has_value());
            exec::Runner runner(1);
            const exec::Recording before = runOf(**opened, runner);
            QVERIFY(!before.error && isAll(before.outputs.front(), 2 * kSize));
            if (change == 0) QVERIFY(test::overwriteFile(data, weightBytes(7)));
            if (change == 1) QCOMPARE(::truncate(data.toLocal8Bit().constData(), 0), 0);
            if (change == 2) QVERIFY(QFile::remove(data));
            const exec::Recording after = runOf(**opened, runner);
            QVERIFY(after.error && tellsOfChange(*after.error) && after.outputs.empty());
            QCOMPARE(after.error->where, data.toStdString());
        }
    }

    void mappedInputsCount() {
        QVERIFY(test::replaceFile(m_path, inlineModel(1, 0)));
        const auto opened = document::open(m_path.toStdString());
        const QString input = m_folder->filePath("x.npy");
        QVERIFY(io::writeNpyFile(input.toStdString(), ones().tensor()).has_value());
        const auto x = io::readNpyFile(input.toStdString());
        QVERIFY(x.has_value());
        const std::vector<tensor::Value> inputs{tensor::Value(*x)};
        exec::Runner runner(1);
        const auto plan = exec::Plan::make((*opened)->graph, {});
        QVERIFY(!runner.run(**plan, inputs).error);
        QCOMPARE(::truncate(input.toLocal8Bit().constData(), 100), 0);
        const exec::Recording after = runner.run(**plan, inputs);
        QVERIFY(after.error && after.outputs.empty());
        QCOMPARE(after.error->what, std::string("input file changed on disk"));
        QCOMPARE(after.error->where, input.toStdString());
        // Nor is it written anywhere.
        QVERIFY(!io::writeNpyFile(m_folder->filePath("copy.npy").toStdString(), *x));
        QVERIFY(!QFile::exists(m_folder->filePath("copy.npy")));
    }

    // The file is as it was, but the disk gives no bytes of it any more. Weights in a file of their own are always read
    // from the mapping.
    void aDiskThatFailsStopsTheRun() {
        const std::string initializer = onnx::externalTensor("w", {kSize, kSize}, {{"location", "weights.bin"}});
        const QString data = m_folder->filePath("weights.bin");
        QVERIFY(test::replaceFile(m_path, modelBytes(initializer, 0)) && test::replaceFile(data, weightBytes(2)));
        const auto opened = document::open(m_path.toStdString());
        QVERIFY(opened.has_value());
        const base::MappedFiles& files = graph::filesOf((*opened)->graph);
        const auto mapped =
            std::ranges::find_if(files, [&](const auto& file) { return file->path().filename() == "weights.bin"; });
        QVERIFY(mapped != files.end());
        QVERIFY(test::makeReadsFail((*mapped)->bytes().data(), (*mapped)->sizeBytes()));
        QVERIFY(graph::checkFiles((*opened)->graph).has_value());  // nobody has read it yet
        for (const bool watchAll : {false, true}) {
            exec::Runner runner(2);
            const exec::Recording recording = runOf(**opened, runner, watchAll);
            QVERIFY(recording.error && recording.outputs.empty() && recording.kept.empty());
            QCOMPARE(recording.error->what, std::string("model file can no longer be read from disk"));
            QCOMPARE(recording.error->where, data.toStdString());
        }
        QVERIFY(!graph::checkFiles((*opened)->graph));
        // Opened again it is read again: the disk was repaired.
        const auto reloaded = document::open(m_path.toStdString());
        QVERIFY(reloaded.has_value());
        exec::Runner runner(2);
        const exec::Recording recording = runOf(**reloaded, runner, true);
        QVERIFY(!recording.error && isAll(recording.outputs.front(), 2 * kSize));
    }

    // What was packed before the disk failed is right; what is read from the mapping afterwards is not published.
    void weightsAreReadOrRefused() {
        const std::string initializer = onnx::externalTensor("w", {kSize, kSize}, {{"location", "weights.bin"}});
        QVERIFY(test::replaceFile(m_path, modelBytes(initializer, 0)) &&
                test::replaceFile(m_folder->filePath("weights.bin"), weightBytes(2)));
        const auto opened = document::open(m_path.toStdString());
        QVERIFY(opened.has_value());
        exec::Runner runner(1);
        QVERIFY(isAll(runOf(**opened, runner).outputs.front(), 2 * kSize));
        for (const auto& file : graph::filesOf((*opened)->graph))
            QVERIFY(test::makeReadsFail(file->bytes().data(), file->sizeBytes()));
        const exec::Recording again = runOf(**opened, runner);
        QVERIFY(again.error ? tellsOfChange(*again.error) && again.outputs.empty()
                            : isAll(again.outputs.front(), 2 * kSize));
        const graph::NodeId weight = (*opened)->graph->findNode("w");
        QVERIFY(weight.valid());
        const tensor::Tensor& elements = (*opened)->graph->node(weight).constant->tensor();
        QCOMPARE(elements.data<float>()[0], 0.0F);
        QVERIFY(tensor::isSourceChanged(elements));
        QVERIFY(!io::writeNpyFile(m_folder->filePath("w.npy").toStdString(), elements));
        QVERIFY(!QFile::exists(m_folder->filePath("w.npy")));
    }

    void anInputThatCannotBeReadStopsTheRun() {
        QVERIFY(test::replaceFile(m_path, inlineModel(1, 0)));
        const auto opened = document::open(m_path.toStdString());
        const QString input = m_folder->filePath("x.npy");
        QVERIFY(io::writeNpyFile(input.toStdString(), ones().tensor()).has_value());
        const auto x = io::readNpyFile(input.toStdString());
        const base::MappedFile* const file = x ? base::MappedFile::at(x->data<float>()) : nullptr;
        QVERIFY(file && test::makeReadsFail(file->bytes().data(), file->sizeBytes()));
        exec::Runner runner(1);
        const std::vector<tensor::Value> inputs{tensor::Value(*x)};
        const exec::Recording recording = runner.run(**exec::Plan::make((*opened)->graph, {}), inputs);
        QVERIFY(recording.error && recording.outputs.empty());
        QCOMPARE(recording.error->what, std::string("input file can no longer be read from disk"));
    }

    void anObserverSeesNothingOfAChangedFile() {
        QVERIFY(test::replaceFile(m_path, inlineModel(1, 0)));
        const auto opened = document::open(m_path.toStdString());
        struct Changing : exec::RunObserver {
            QString path;
            int seen = 0;
            bool mayContinue(exec::ExprId) override { return test::overwriteFile(path, inlineModel(9, 0)); }
            void exprFinished(exec::ExprId, std::span<const tensor::Value>, std::int64_t) override { ++seen; }
        } observer;
        observer.path = m_path;
        exec::RunOptions options;
        options.observer = &observer;
        exec::Runner runner(1);
        const std::vector<tensor::Value> inputs{ones()};
        const exec::Recording recording = runner.run(**exec::Plan::make((*opened)->graph, {}), inputs, {}, options);
        QVERIFY(recording.error && tellsOfChange(*recording.error) && recording.outputs.empty());
        QCOMPARE(observer.seen, 0);
    }

    // What is written from a changed model is not left behind, and what was there before stays.
    void savingFails() {
        QVERIFY(test::replaceFile(m_path, inlineModel(1, 0)));
        const auto opened = document::open(m_path.toStdString());
        const QString out = m_folder->filePath("out.onnx");
        QVERIFY(test::replaceFile(out, "before"));
        QVERIFY(test::overwriteFile(m_path, inlineModel(9, 0)));
        for (const std::int64_t limit : {std::int64_t{1} << 30, std::int64_t{0}}) {
            io::OnnxWriteOptions options;
            options.sources = graph::filesOf((*opened)->graph);
            options.inlineLimitBytes = limit;
            const auto written = io::writeOnnx(out.toStdString(), *(*opened)->graph, options);
            QVERIFY(!written && tellsOfChange(written.error()));
            QFile file(out);
            QVERIFY(file.open(QIODevice::ReadOnly));
            QCOMPARE(file.readAll(), QByteArray("before"));
            QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files).size(), 2);
        }
    }

    // A model may be saved over itself and its own data file.
    void savingOverItselfWorks() {
        const std::string initializer = onnx::externalTensor("w", {kSize, kSize}, {{"location", "model.onnx.data"}});
        QVERIFY(test::replaceFile(m_path, modelBytes(initializer, 0)) &&
                test::replaceFile(m_path + ".data", weightBytes(4)));
        const auto opened = document::open(m_path.toStdString());
        QVERIFY(opened.has_value());
        io::OnnxWriteOptions options;
        options.sources = graph::filesOf((*opened)->graph);
        options.inlineLimitBytes = 0;
        QVERIFY(io::writeOnnx(m_path.toStdString(), *(*opened)->graph, options).has_value());
        exec::Runner runner(1);
        const exec::Recording recording = runOf(**document::open(m_path.toStdString()), runner);
        QVERIFY(!recording.error && isAll(recording.outputs.front(), 4 * kSize));
    }

    // 1,000 rounds of open, run until something happens, open again, run.
    void runsAtRandomMoments() {
        constexpr int kRounds = 1000;
        std::mt19937 random(11);
        int counts[test::kFileChanges][2] = {};
        exec::Runner runner(2);
        for (int round = 0; round < kRounds; ++round) {
            const int version = 1 + round % 50;
            const std::size_t shift = random() % 8;
            const auto change = static_cast<FileChange>(round % test::kFileChanges);
            QVERIFY(test::replaceFile(m_path, inlineModel(version, shift)));
            const auto opened = document::open(m_path.toStdString());
            QVERIFY2(opened.has_value(), opened ? "" : opened.error().text().c_str());
            const base::MappedFiles& files = graph::filesOf((*opened)->graph);
            const base::MappedFile* const file = files.front().get();
            const bool areCopied = files.front().use_count() == 1;  // no weight needs the disk any more
            const std::string other = inlineModel(version + 100, shift);
            std::atomic<bool> done{false};
            std::thread changer([&, pause = random() % 1500] {
                std::this_thread::sleep_for(std::chrono::microseconds(pause));
                apply(change, other, *file);
                done = true;
            });
            // Weights are packed in the first run and not read again: half of these disks fail before it.
            const bool isBefore = change == FileChange::ReadError && round % 2 == 0;
            if (isBefore) changer.join();
            bool wrong = false, stopped = false;
            for (bool last = false; !stopped && !wrong && !last;) {
                last = done;  // after the change one more run tells
                const exec::Recording recording = runOf(**opened, runner, random() % 2 == 0);
                if (recording.error)
                    stopped = tellsOfChange(*recording.error) && recording.outputs.empty() && recording.kept.empty();
                else wrong = !isAll(recording.outputs.front(), static_cast<float>(version * kSize));
                wrong = wrong || (recording.error && !stopped);
            }
            if (!isBefore) changer.join();
            const QString place = QString("round %1, change %2").arg(round).arg(static_cast<int>(change));
            QVERIFY2(!wrong, qPrintable(place));
            if (isBefore) QVERIFY2(stopped || areCopied, qPrintable(place));
            else if (change != FileChange::ReadError)
                QVERIFY2(stopped == (change != FileChange::None), qPrintable(place));
            ++counts[static_cast<int>(change)][stopped ? 1 : 0];

            QVERIFY(test::replaceFile(m_path, inlineModel(version + 1, shift)));
            const auto reloaded = document::open(m_path.toStdString());
            QVERIFY2(reloaded.has_value(), qPrintable(place));
            const exec::Recording recording = runOf(**reloaded, runner);
            QVERIFY2(!recording.error && isAll(recording.outputs.front(), static_cast<float>((version + 1) * kSize)),
                     qPrintable(place));
        }
        for (int change = 0; change < test::kFileChanges; ++change)
            qInfo("change %d: %d went on, %d stopped", change, counts[change][0], counts[change][1]);
    }

    // The same while the file is being read for the first time.
    void openingAtRandomMoments_data() {
        QTest::addColumn<QString>("source");
        for (const char* name :
             {"gpt_mini.onnx", "control_flow.script.pt", "unet_small.trace.pt", "mobilenet_v3_small.onnx"})
            QTest::newRow(name) << QString(name);
    }
    void openingAtRandomMoments() {
        QFETCH(QString, source);
        QFile file(QStringLiteral(SONDE_TEST_DATA "/models/") + source);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string whole = file.readAll().toStdString();
        std::string zeros(whole.size(), '\0'), shuffled = whole;
        std::mt19937 random(12);
        for (std::size_t i = 0; i < shuffled.size(); i += 1 + random() % 4000)
            shuffled[i] = static_cast<char>(random());
        const std::size_t nodes = [&] {
            test::replaceFile(m_path, whole);
            return (*document::open(m_path.toStdString()))->graph->nodeCount();
        }();
        int errors = 0;
        for (int round = 0; round < 60; ++round) {
            QVERIFY(test::replaceFile(m_path, whole));
            std::thread changer([&, pause = random() % 30000, kind = round % 4] {
                std::this_thread::sleep_for(std::chrono::microseconds(pause));
                if (kind == 0)
                    (void)!::truncate(m_path.toLocal8Bit().constData(), static_cast<off_t>(whole.size() / 3));
                if (kind == 1) test::overwriteFile(m_path, zeros);
                if (kind == 2) test::overwriteFile(m_path, shuffled);
                if (kind == 3) test::replaceFile(m_path, shuffled);
            });
            const auto opened = document::open(m_path.toStdString());
            changer.join();
            if (!opened) ++errors;
            // Changed after it was opened: then it is the model that was there before. Changed before: whatever the
            // file holds.
            else if (!graph::checkFiles((*opened)->graph)) QCOMPARE((*opened)->graph->nodeCount(), nodes);
        }
        QVERIFY(test::replaceFile(m_path, whole));
        QVERIFY(document::open(m_path.toStdString()).has_value());
        qInfo("%d of 60 could not be opened", errors);
    }

  private:
    void apply(FileChange change, const std::string& other, const base::MappedFile& file) {
        const QByteArray name = m_path.toLocal8Bit();
        switch (change) {
            case FileChange::None: break;
            case FileChange::Truncate: (void)!::truncate(name.constData(), static_cast<off_t>(other.size() / 2)); break;
            case FileChange::Empty: (void)!::truncate(name.constData(), 0); break;
            case FileChange::Overwrite: test::overwriteFile(m_path, other); break;
            case FileChange::Rename: test::replaceFile(m_path, other); break;
            case FileChange::Delete: ::unlink(name.constData()); break;
            case FileChange::ReadError: test::makeReadsFail(file.bytes().data(), file.sizeBytes()); break;
        }
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_path;
};

QTEST_GUILESS_MAIN(TestChangedFiles)

}  // namespace tst_changed_files

#include "tst_changed_files.moc"
