// ONNX files that nobody should trust: what is wrong is told with its place, nothing runs away with time or memory.

#include <QTemporaryDir>
#include <QtTest>

#include <chrono>
#include <thread>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/onnx/onnx_reader.h"
#include "tests/support/onnx_file.h"

namespace tst_onnx_untrusted {

using namespace sonde;
using namespace sonde::test::onnxfile;
using tensor::Tensor;
using tensor::Value;

namespace {

std::string int64s(const std::string& name, const std::vector<std::int64_t>& values) {
    return rawTensor(name, 7, {static_cast<std::int64_t>(values.size())},
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * 8));
}

const std::vector<std::string> kX{valueInfo("x", 1, {2})}, kY{valueInfo("y", 1, {2})};

Graph oneNode(Node node, std::vector<std::string> initializers = {}) {
    return {{std::move(node)}, kX, kY, std::move(initializers)};
}

}  // namespace

class TestOnnxUntrusted : public QObject {
    Q_OBJECT

  private slots:
    void readingTellsWhatIsWrong_data();
    void readingTellsWhatIsWrong();
    void oddFilesStillOpen_data();
    void oddFilesStillOpen();
    void runningTellsWhatIsWrong_data();
    void runningTellsWhatIsWrong();
    void dataMayNotLeaveTheFolder();
    void allThatIsMissingIsNamed();
    void endlessLoopsAreCancelled();
    void longNamesAreShortened();
    void namesThatAreNoTextAreShownAsText();
    void muchOfOneKindIsReadInTime_data();
    void muchOfOneKindIsReadInTime();

  private:
    base::Result<std::shared_ptr<const document::Document>> open(const std::string& bytes) {
        const QString path = m_folder.filePath("model.onnx");
        if (!write(path, bytes)) return base::runError("cannot write");
        return document::open(path.toStdString(), {}, {});
    }
    static QString findings(const document::Document& document) {
        QString text;
        for (const base::Diagnostic& finding : document.diagnostics)
            text += QString::fromStdString(finding.what + " (" + finding.where + ")\n");
        return text;
    }
    QTemporaryDir m_folder;
};

void TestOnnxUntrusted::readingTellsWhatIsWrong_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("where");
    const auto row = [](const char* name, const std::string& bytes, const char* what, const char* where) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << what << where;
    };
    const auto relu = [](std::vector<std::string> initializers, const char* input = "w") {
        return oneNode({"Relu", {input}, {"y"}, "act"}, std::move(initializers));
    };
    row("opset of 2^60", model(relu({}, "x"), {}, {opset("", std::int64_t{1} << 60)}),
        "invalid opset version 1152921504606846976 for domain ''", "opset import");
    row("opset below zero", model(relu({}, "x"), {}, {opset("my.domain", -3)}),
        "invalid opset version -3 for domain 'my.domain'", "opset import");
    row("data cut off", model(relu({rawTensor("w", 1, {4}, std::string(15, 'a'))})), "15 bytes", "tensor 'w'");
    row("too much data", model(relu({rawTensor("w", 1, {4}, std::string(17, 'a'))})), "17 bytes", "tensor 'w'");
    row("half a byte too little", model(relu({rawTensor("w", 22, {5}, "ab")})), "2 bytes", "tensor 'w'");
    row("2^33 elements without data", model(relu({rawTensor("w", 1, {std::int64_t{1} << 33}, "")})), "cut off",
        "tensor 'w'");
    row("2^62 texts without data", model(relu({rawTensor("w", 8, {std::int64_t{1} << 62}, "")})), "cut off",
        "tensor 'w'");
    row("element count overflows", model(relu({rawTensor("w", 1, {1ll << 32, 1ll << 32}, "")})), "impossible shape",
        "tensor 'w'");
    row("negative dimension", model(relu({rawTensor("w", 1, {2, -2}, "")})), "impossible shape", "tensor 'w'");
    row("65 dimensions", model(relu({rawTensor("w", 1, std::vector<std::int64_t>(65, 1), "abcd")})), "impossible shape",
        "tensor 'w'");
    row("element type 200", model(relu({rawTensor("w", 200, {1}, "abcd")})), "element type 200", "tensor 'w'");
    row("element type of an input", model({{{"Relu", {"x"}, {"y"}}}, {valueInfo("x", 99, {2})}, kY}), "element type 99",
        "byte");
    row("text as raw data", model(relu({rawTensor("w", 8, {1}, "abcd")})), "strings", "tensor 'w'");
    row("two initializers", model(relu({int64s("w", {1}), int64s("w", {2})})), "two initializers have the name 'w'",
        "graph 'graph'");
    row("one node produces a value twice", model({{{"Split", {"x"}, {"y", "y"}, "cut"}}, kX, kY}), "produces 'y' twice",
        "Split node 'cut'");
    row("two nodes make a value", model({{{"Relu", {"x"}, {"y"}, "one"}, {"Neg", {"x"}, {"y"}, "two"}}, kX, kY}),
        "two nodes produce 'y'", "Neg node 'two'");
    row("a cycle of three",
        model({{{"Relu", {"c"}, {"a"}, "one"}, {"Neg", {"a"}, {"b"}, "two"}, {"Abs", {"b"}, {"c"}, "three"}},
               kX,
               {valueInfo("c", 1, {2})}}),
        "cycle", "node 'one'");
    const Graph branch{{{"Relu", {"y"}, {"r"}}}, {}, {valueInfo("r", 1, {2})}};
    row("a branch reads what comes of it",
        model({{{"If",
                 {"x"},
                 {"y"},
                 "choose",
                 "",
                 {graphAttribute("then_branch", branch.bytes()), graphAttribute("else_branch", branch.bytes())}}},
               kX,
               kY}),
        "'y'", "Relu");
    const auto calls = [](const char* name, const char* other) {
        return Function{name, "own", {"i"}, {"o"}, {{other, {"i"}, {"o"}, "", "own"}}};
    };
    row("functions call each other",
        model(oneNode({"F", {"x"}, {"y"}, "start", "own"}), {calls("F", "G"), calls("G", "H"), calls("H", "F")},
              {opset("", 16), opset("own", 1)}),
        "function 'F' calls itself", "F");
    row("a function calls itself in a branch",
        model(oneNode({"F", {"x"}, {"y"}, "start", "own"}),
              {{"F",
                "own",
                {"i"},
                {"o"},
                {{"If",
                  {"i"},
                  {"o"},
                  "",
                  "",
                  {graphAttribute("then_branch",
                                  Graph{{{"F", {"i"}, {"r"}, "", "own"}}, {}, {valueInfo("r", 1, {2})}}.bytes())}}}}}),
        "calls itself", "F");
    std::vector<Function> chain{{"L0", "own", {"i"}, {"o"}, {{"Relu", {"i"}, {"o"}}}}};
    for (int i = 1; i < 100; ++i)
        chain.push_back(
            {"L" + std::to_string(i), "own", {"i"}, {"o"}, {{"L" + std::to_string(i - 1), {"i"}, {"o"}, "", "own"}}});
    row("a hundred functions deep", model(oneNode({"L99", {"x"}, {"y"}, "start", "own"}), chain), "64 calls deep", "L");
}

void TestOnnxUntrusted::readingTellsWhatIsWrong() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, what);
    QFETCH(QString, where);
    const auto document = open(bytes.toStdString());
    QVERIFY(!document);
    QCOMPARE(document.error().exitStatus(), 3);
    const QString place = QString::fromStdString(document.error().where),
                  text = QString::fromStdString(document.error().text());
    QVERIFY2(QString::fromStdString(document.error().what).contains(what), qPrintable(text));
    QVERIFY2(place.contains("model.onnx") && place.contains(where), qPrintable(text));
}

void TestOnnxUntrusted::oddFilesStillOpen_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("finding");
    const auto row = [](const char* name, const std::string& bytes, const char* finding) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << finding;
    };
    row("no opset import", model(oneNode({"Relu", {"x"}, {"y"}}), {}, {}), "imports no opset for domain ''");
    row("an unknown domain without a version", model(oneNode({"Foo", {"x"}, {"y"}, "", "my"})),
        "imports no opset for domain 'my'");
    row("a newer opset", model(oneNode({"Relu", {"x"}, {"y"}}), {}, {opset("", 99)}),
        "opset version 99 of ai.onnx, newer");
    row("two functions of one name",
        model(oneNode({"F", {"x"}, {"y"}, "", "own"}), {{"F", "own", {"i"}, {"o"}, {{"Relu", {"i"}, {"o"}}}},
                                                        {"F", "own", {"i"}, {"o"}, {{"Neg", {"i"}, {"o"}}}}}),
        "two functions 'F'");
    row("an input of 2^80 elements", model({{{"Relu", {"x"}, {"y"}}}, {valueInfo("x", 1, {1ll << 40, 1ll << 40})}, kY}),
        "declares");
    row("no elements of a huge shape", model(oneNode({"Relu", {"w"}, {"y"}}, {rawTensor("w", 1, {0, 1ll << 62}, "")})),
        "declares");
}

void TestOnnxUntrusted::oddFilesStillOpen() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, finding);
    const auto document = open(bytes.toStdString());
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    QVERIFY2(findings(**document).contains(finding), qPrintable(findings(**document)));
}

void TestOnnxUntrusted::runningTellsWhatIsWrong_data() {
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* op, std::vector<std::string> inputs, std::vector<std::string> initializers,
                        std::vector<std::string> attributes = {}) {
        QTest::newRow(op) << QByteArray::fromStdString(
            model(oneNode({op, inputs, {"y"}, "huge", "", attributes}, initializers), {},
                  {opset("", QLatin1String(op) == QLatin1String("LinearAttention") ? 27 : 16)}));
    };
    constexpr std::int64_t kHuge = std::int64_t{1} << 61;
    row("ConstantOfShape", {"s"}, {int64s("s", {1 << 24, 1 << 24})});
    row("Expand", {"x", "s"}, {int64s("s", {1ll << 31, 1ll << 31, 2})});
    row("Tile", {"x", "s"}, {int64s("s", {kHuge})});
    row("Pad", {"x", "s"}, {int64s("s", {kHuge, kHuge})});
    row("Reshape", {"x", "s"}, {int64s("s", {kHuge, 8})});
    row("OneHot", {"i", "d", "v"}, {int64s("i", {0}), int64s("d", {kHuge}), int64s("v", {0, 1})});
    row("EyeLike", {"w"}, {rawTensor("w", 1, {0, 1ll << 62}, "")});
    row("MaxPool", {"p"}, {rawTensor("p", 1, {1, 1, 1}, "abcd")},
        {intsAttribute("kernel_shape", {kHuge}), intsAttribute("pads", {kHuge, kHuge})});
    row("Conv", {"p", "p"}, {rawTensor("p", 1, {1, 1, 1}, "abcd")}, {intsAttribute("pads", {kHuge, kHuge})});
    row("ConvTranspose", {"q", "q"}, {rawTensor("q", 1, {1, 1, 1, 1}, "abcd")},
        {intsAttribute("kernel_shape", {1000, 1000})});
    row("RoiAlign", {"q", "r", "i"},
        {rawTensor("q", 1, {1, 1, 1, 1}, "abcd"), rawTensor("r", 1, {1, 4}, std::string(16, 0)), int64s("i", {0})},
        {intAttribute("sampling_ratio", kHuge)});
    row("LinearAttention", {"q", "q", "q"}, {rawTensor("q", 1, {1, 1, 1, 1}, "abcd")},
        {intAttribute("q_num_heads", 1), intAttribute("kv_num_heads", 0), stringAttribute("update_rule", "linear")});
    row("SpaceToDepth", {"p"}, {rawTensor("p", 1, {1, 1, 1, 1}, "abcd")}, {intAttribute("blocksize", kHuge)});
    row("Unsqueeze", {"x", "s"}, {int64s("s", {kHuge})});
    row("Slice", {"x", "s", "s", "s"}, {int64s("s", {-kHuge - kHuge / 2})});
}

/// An error that names the node; no memory of that size, no end of the program.
void TestOnnxUntrusted::runningTellsWhatIsWrong() {
    QFETCH(QByteArray, bytes);
    const auto document = open(bytes.toStdString());
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    const auto plan = exec::Plan::make((*document)->graph, {});
    QVERIFY(plan.has_value());
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, std::vector<Value>{Value(Tensor::of<float>({2}, {1, 2}))}, {});
    if (QLatin1String(QTest::currentDataTag()) == QLatin1String("EyeLike"))
        return;  // nothing of a huge shape is nothing
    QVERIFY(recording.error.has_value());
    QVERIFY2(recording.error->where.find("node 'y'") != std::string::npos, recording.error->text().c_str());
}

void TestOnnxUntrusted::dataMayNotLeaveTheFolder() {
    QTemporaryDir other;
    QVERIFY(write(other.filePath("secret.bin"), std::string(8, 's')));
    QVERIFY(QDir(m_folder.path()).mkpath("inner"));
    QVERIFY(write(m_folder.filePath("inner/data.bin"), std::string(8, 'd')));
    QVERIFY(QFile::link(other.filePath("secret.bin"), m_folder.filePath("link.bin")));
    QVERIFY(QFile::link(other.path(), m_folder.filePath("folder")));
    const auto tryWith = [&](const QString& location) {
        return open(
            model(oneNode({"Relu", {"w"}, {"y"}},
                          {externalTensor("w", {2}, {{"location", location.toStdString()}, {"length", "8"}})})));
    };
    const auto inside = tryWith("inner/data.bin");
    QVERIFY2(inside.has_value(), inside ? "" : inside.error().text().c_str());
    for (const QString& location :
         {QStringLiteral("../%1/secret.bin").arg(QFileInfo(other.path()).fileName()), other.filePath("secret.bin"),
          QStringLiteral("link.bin"), QStringLiteral("folder/secret.bin"), QStringLiteral("inner/../../secret.bin"),
          QStringLiteral("."), QString()}) {
        const auto refused = tryWith(location);
        QVERIFY2(!refused, qPrintable(location));
        QCOMPARE(refused.error().exitStatus(), 3);
        QVERIFY2(refused.error().where.find("tensor 'w'") != std::string::npos, refused.error().text().c_str());
    }
}

void TestOnnxUntrusted::allThatIsMissingIsNamed() {
    const auto document = open(model({{{"Relu", {"x"}, {"a"}},
                                       {"Foo", {"a"}, {"b"}},
                                       {"Bar", {"b"}, {"c"}, "", "my"},
                                       {"Foo", {"c"}, {"d"}},
                                       {"Mish", {"d"}, {"y"}}},
                                      kX,
                                      kY},
                                     {}, {opset("", 16), opset("my", 1)}));
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    const QString text = findings(**document);
    QVERIFY2(text.contains("operator Foo is not known: 2 nodes") && text.contains("my::Bar") &&
                 text.contains("Mish of version 16"),
             qPrintable(text));
    const auto plan = exec::Plan::make((*document)->graph, {.end = {(*document)->graph->findNode("a")}});
    QVERIFY(plan.has_value());
    exec::Runner runner(1);
    const exec::Recording recording =
        runner.run(**plan, std::vector<Value>{Value(Tensor::of<float>({2}, {-1, 2}))}, {});
    QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
}

void TestOnnxUntrusted::endlessLoopsAreCancelled() {
    const Graph body{{{"Identity", {"c"}, {"again"}}, {"Identity", {"v"}, {"next"}}},
                     {valueInfo("i", 7, {}), valueInfo("c", 9, {}), valueInfo("v", 1, {2})},
                     {valueInfo("again", 9, {}), valueInfo("next", 1, {2})}};
    const auto document =
        open(model(oneNode({"Loop", {"", "true", "x"}, {"y"}, "for ever", "", {graphAttribute("body", body.bytes())}},
                           {rawTensor("true", 9, {}, "\1")})));
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    const auto plan = exec::Plan::make((*document)->graph, {});
    QVERIFY(plan.has_value());
    std::stop_source stop;
    base::WorkContext work;
    work.stop = stop.get_token();
    std::jthread canceller([&stop] {
        // Some moment of a loop without end: nothing tells from outside that it is in there.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stop.request_stop();
    });
    exec::Runner runner(1);
    const exec::Recording recording =
        runner.run(**plan, std::vector<Value>{Value(Tensor::of<float>({2}, {1, 2}))}, work);
    QVERIFY(recording.error.has_value());
    QCOMPARE(recording.error->exitStatus(), 5);
}

void TestOnnxUntrusted::longNamesAreShortened() {
    const std::string name(10'240, 'n');
    const auto document = open(model(oneNode({"Relu", {name + "1"}, {"y"}, name})));
    QVERIFY(!document);
    QVERIFY2(document.error().text().size() < 600, document.error().text().c_str());
    QVERIFY(document.error().text().find("… (10240 bytes)") != std::string::npos);
    // They are no reason not to open a model.
    const auto good = open(model(oneNode({"Relu", {"x"}, {"y"}, name})));
    QVERIFY(good.has_value());
}

void TestOnnxUntrusted::namesThatAreNoTextAreShownAsText() {
    const std::string name = "a\xff\x01\xc3\xa9\xe2\x28";
    const auto broken = open(model(oneNode({"Relu", {name}, {"y"}, "node"})));
    QVERIFY(!broken);
    QVERIFY2(broken.error().text().find("'a??\xc3\xa9?('") != std::string::npos, broken.error().text().c_str());
    const auto good = open(model({{{"Relu", {"x"}, {name}}, {"Relu", {name}, {"y"}}}, kX, kY}));
    QVERIFY2(good.has_value(), good ? "" : good.error().text().c_str());
}

// Time that grows with the square of these would not come to an end here.
void TestOnnxUntrusted::muchOfOneKindIsReadInTime_data() {
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes);
    };
    std::vector<std::string> outputs;
    for (int i = 0; i < 400'000; ++i) outputs.push_back("o" + std::to_string(i));
    row("outputs of a node", model({{{"Split", {"x"}, outputs, "cut"}}, kX, {valueInfo("o7", 1, {2})}}));
    std::vector<Node> calls;
    std::vector<std::string> results;
    for (int i = 0; i < 12'000; ++i) {
        const std::string from = i == 0 ? "x" : "v" + std::to_string(i - 1), to = "v" + std::to_string(i);
        calls.push_back({"F", {from}, {to}, "call" + std::to_string(i), "own"});
        results.push_back(valueInfo(to, 1, {2}));
    }
    row("calls of functions", model({calls, kX, results}, {{"F", "own", {"i"}, {"o"}, {{"Relu", {"i"}, {"o"}}}}},
                                    {opset("", 16), opset("own", 1)}));
    std::vector<Node> deep;
    for (int i = 0; i < 4'000; ++i) {
        std::string path;
        for (int level = 0; level < 300; ++level) path += "m" + std::to_string(i) + '_' + std::to_string(level) + '/';
        deep.push_back({"Relu", {"x"}, {"y" + std::to_string(i)}, path});
    }
    row("modules in modules", model({deep, kX, {valueInfo("y0", 1, {2})}}));
}

void TestOnnxUntrusted::muchOfOneKindIsReadInTime() {
    QFETCH(QByteArray, bytes);
    const auto document = open(bytes.toStdString());
    QVERIFY2(document, document ? "" : document.error().text().c_str());
    QVERIFY((*document)->graph->scopeCount() <= 250'001);
    QVERIFY((*document)->graph->exprCount() > 1);
}

QTEST_GUILESS_MAIN(TestOnnxUntrusted)

}  // namespace tst_onnx_untrusted

#include "tst_onnx_untrusted.moc"
