// Edits written into a model: the file, opened again, gives the values that the debugger shows, bit for bit.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <set>

#include "core/exec/runner.h"
#include "core/export/write_export.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"
#include "tests/core/session/edits/edited_file.h"
#include "tests/support/onnx_file.h"

namespace tst_edited_model {

using namespace sonde;
using namespace sonde::test::edits;
using session::Session;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;

namespace {

std::string floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// y = x · w, z = relu(y), s = z + c of x float32[rows,2]; rows may be unknown (-1). Outputs are y and s.
std::string linearModel(std::int64_t rows, int opset = 16) {
    const onnx::Graph graph{
        {{"MatMul", {"x", "w"}, {"y"}}, {"Relu", {"y"}, {"z"}}, {"Add", {"z", "c"}, {"s"}}},
        {onnx::valueInfo("x", 1, {rows, 2})},
        {onnx::valueInfo("s", 1, {rows, 2}), onnx::valueInfo("y", 1, {rows, 2})},
        {onnx::rawTensor("w", 1, {2, 2}, floats({1, 0, 0, 1})), onnx::rawTensor("c", 1, {2}, floats({10, 20}))}};
    return onnx::model(graph, {}, {onnx::opset("", opset)});
}

}  // namespace

class TestEditedModel : public QObject {
    Q_OBJECT

  private slots:
    void filesGiveTheSameValues_data() {
        QTest::addColumn<QStringList>("edits");
        QTest::addColumn<int>("rows");
        const auto row = [](const char* name, const QStringList& edits, int rows = 3) {
            QTest::newRow(name) << edits << rows;
        };
        row("weight", {"w[0] = [2, -3]", "w scale 0.3", "c = [1, 2]"});
        row("set", {"y[0, 1] = 5"});
        row("set all", {"y = [4, -5]"});
        row("set by a weight", {"y[1:] = c + 1"});
        row("set an output", {"s[2] = 1"});
        row("zero", {"y zero"});
        row("zero of a slice", {"z[::2] zero"});
        row("scale", {"y scale 0.1"});
        row("scale of a slice", {"y[..., 1] scale -0.1"});
        row("noise", {"y noise 0.5 3"});
        row("noise of a slice", {"y[1] noise 0.5 3"});
        row("swap", {"y swap 1 0 1"});
        row("swap in a slice", {"y[1:] swap 0 0 1"});
        row("remove", {"y remove 0 1 2"});
        row("remove of a slice", {"y[1:] remove 1 0"});
        row("several of one", {"y scale 2", "y[0] = 1", "y swap 1 0 1", "z[0] = -1", "w[1, 1] = 9"});
        row("input", {"x[0] = 3", "x scale 2"});
        row("rows unknown: zero", {"y zero"}, -1);
        row("rows unknown: scale", {"y scale 3"}, -1);
        row("rows unknown: swap", {"y swap 1 0 1"}, -1);
        row("rows unknown: remove", {"y remove 1 1"}, -1);
        row("rows unknown: set", {"y = [1, 2]"}, -1);
        row("rows unknown: set an element", {"y[0, 1] = 5"}, -1);
        row("rows unknown: set the last row", {"y[-1] = [7, 8]"}, -1);
        row("rows unknown: set by a weight", {"y[1:] = c + 1"}, -1);
        row("rows unknown: zero of a slice", {"z[::2, ...] zero"}, -1);
        row("rows unknown: backward", {"z[::-2] = [[1, 2], [3, 4]]"}, -1);
        row("rows unknown: scale of a slice", {"y[..., 1] scale -0.1"}, -1);
        row("rows unknown: swap rows", {"y swap 0 0 2"}, -1);
        row("rows unknown: swap in a slice", {"y[1:] swap 0 0 1"}, -1);
        row("rows unknown: remove rows", {"y remove 0 1 2"}, -1);
        row("rows unknown: remove of a slice", {"y[1:] remove 1 0"}, -1);
        row("rows unknown: input", {"x[0] = 3", "x[1:, 0] scale 2"}, -1);
    }
    void filesGiveTheSameValues() {
        QFETCH(QStringList, edits);
        QFETCH(int, rows);
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("linear.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << linearModel(rows);
        Session session;
        QVERIFY(session.open(path).has_value());
        const std::vector<Value> inputs{Tensor::of<float>({3, 2}, {1, -2, 3, 4, 0.1F, -0.7F})};
        session.runs().giveValues(inputs);
        session.debugger().restart();
        for (const QString& edit : edits) {
            const auto error = make(session, edit.toStdString());
            QVERIFY2(!error, error ? error->c_str() : "");
        }
        const std::string wrong = compareWritten(session, folder, inputs);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Only with operators that the model's opset has: Where came with 9, Slice with inputs with 10, ScatterElements
    /// and Range with 11, Split with inputs with 13.
    void modelsKeepTheirOpset_data() {
        QTest::addColumn<int>("opset");
        QTest::addColumn<QStringList>("edits");
        QTest::addColumn<int>("rows");
        const QStringList fixed{"y[0, 1] = 5",      "y zero",       "y[..., 1] scale -0.1",
                                "y[1] noise 0.5 3", "y swap 1 0 1", "z[1:] swap 0 0 1",
                                "z remove 0 1 2",   "y scale 2",    "x[0] = 3"};
        const QStringList open{"y[0, 1] = 5",  "y[1:] = [7, 8]",   "z[:, 1] zero",   "y[..., 1] scale -0.1",
                               "y swap 0 0 2", "z[1:] swap 0 0 1", "z remove 0 1 2", "x[1:, 0] scale 2"};
        for (const int opset : {7, 8, 9, 10, 11, 12, 13}) QTest::addRow("%d", opset) << opset << fixed << 3;
        for (const int opset : {7, 8, 9, 10, 11, 13}) QTest::addRow("%d, open", opset) << opset << open << -1;
        for (const int opset : {7, 8, 9, 12, 13})
            QTest::addRow("%d, open, of the run", opset)
                << opset << QStringList{"y[::-2] = 4", "z[[0, 2]] = 1", "y noise 0.5 3"} << -1;
    }
    void modelsKeepTheirOpset() {
        QFETCH(int, opset);
        QFETCH(QStringList, edits);
        QFETCH(int, rows);
        const std::vector<Value> inputs{Tensor::of<float>({3, 2}, {1, -2, 3, 4, 0.1F, -0.7F})};
        for (const QString& edit : edits) {
            QTemporaryDir folder;
            const std::string path = folder.filePath(QStringLiteral("linear.onnx")).toStdString();
            std::ofstream(path, std::ios::binary) << linearModel(rows, opset);
            Session session;
            QVERIFY(session.open(path).has_value());
            session.runs().giveValues(inputs);
            session.debugger().restart();
            const auto error = make(session, edit.toStdString());
            QVERIFY2(!error, error ? error->c_str() : "");
            const auto types = session::typesOfRun(*session.document(), session.edits(), inputs);
            QVERIFY(types.has_value());
            const std::string wrong = compareWritten(session, folder, inputs, *types);
            QVERIFY2(wrong.empty(), qPrintable(edit + QStringLiteral(": ") + QString::fromStdString(wrong)));
            const auto written = document::open(folder.filePath(QStringLiteral("edited.onnx")).toStdString());
            QVERIFY(written.has_value());
            const std::set<std::string> since9{"Where", "NonZero", "Scatter"}, since11{"ScatterElements", "Range"};
            for (const graph::ExprId id : (*written)->graph->main().order) {
                const graph::OpKey& op = (*written)->graph->expr(id).op;
                if (op.name.empty()) continue;
                QCOMPARE(op.version, opset);
                QVERIFY2(opset >= 9 || !since9.contains(op.name), op.name.c_str());
                QVERIFY2(opset < 11 || op.name != "Scatter", op.name.c_str());
                QVERIFY2(opset >= 11 || !since11.contains(op.name), op.name.c_str());
            }
        }
    }

    /// Without a run there is a way to be told.
    void anOldOpsetIsNamed() {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("linear.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << linearModel(-1, 8);
        Session session;
        QVERIFY(session.open(path).has_value());
        const auto error = make(session, "y[0, 1] = 5");
        QVERIFY2(!error, error ? error->c_str() : "");
        const auto edited = session::editedDocument(*session.document(), session.edits());
        QVERIFY(!edited);
        QVERIFY2(edited.error().what.find("opset 8 has no operator") != std::string::npos, edited.error().what.c_str());
        QVERIFY2(edited.error().hint.find("--input-data") != std::string::npos, edited.error().hint.c_str());
    }

    /// ONNX Runtime has Where for these dtypes alone: tried with 1.30.
    void onlyDtypesOfOnnxRuntimeAreChosenFrom_data() {
        QTest::addColumn<QStringList>("edits");
        QTest::newRow("bool") << QStringList{"big = 1"};
        QTest::newRow("bool of a slice") << QStringList{"big[0] = 0", "big[:, 1] zero"};
        QTest::newRow("int8") << QStringList{"small zero", "small[1] = -100"};
        QTest::newRow("int16") << QStringList{"middle = -30000"};
        QTest::newRow("uint32") << QStringList{"large = 4000000000"};
    }
    void onlyDtypesOfOnnxRuntimeAreChosenFrom() {
        QFETCH(QStringList, edits);
        constexpr int kFloat = 1, kInt8 = 3, kInt16 = 5, kBool = 9, kUInt32 = 12;
        const onnx::Graph graph{{{"Greater", {"x", "c"}, {"big"}},
                                 {"Cast", {"x"}, {"small"}, "", "", {onnx::intAttribute("to", kInt8)}},
                                 {"Cast", {"x"}, {"middle"}, "", "", {onnx::intAttribute("to", kInt16)}},
                                 {"Abs", {"x"}, {"size"}},
                                 {"Cast", {"size"}, {"large"}, "", "", {onnx::intAttribute("to", kUInt32)}},
                                 {"Identity", {"big"}, {"a"}},
                                 {"Identity", {"small"}, {"b"}},
                                 {"Identity", {"middle"}, {"c2"}},
                                 {"Identity", {"large"}, {"d"}}},
                                {onnx::valueInfo("x", kFloat, {3, 2})},
                                {onnx::valueInfo("a", kBool, {3, 2}), onnx::valueInfo("b", kInt8, {3, 2}),
                                 onnx::valueInfo("c2", kInt16, {3, 2}), onnx::valueInfo("d", kUInt32, {3, 2})},
                                {onnx::rawTensor("c", kFloat, {}, floats({1}))}};
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("types.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        Session session;
        QVERIFY(session.open(path).has_value());
        const std::vector<Value> inputs{Tensor::of<float>({3, 2}, {1, -2, 3, 4, 0.5F, -7})};
        session.runs().giveValues(inputs);
        session.debugger().restart();
        for (const QString& edit : edits) {
            const auto error = make(session, edit.toStdString());
            QVERIFY2(!error, error ? error->c_str() : "");
        }
        const std::string wrong = compareWritten(session, folder, inputs);
        QVERIFY2(wrong.empty(), wrong.c_str());
        const auto written = document::open(folder.filePath(QStringLiteral("edited.onnx")).toStdString());
        QVERIFY(written.has_value());
        const graph::InternalGraph& model = *(*written)->graph;
        using tensor::DType;
        const std::vector<DType> known{DType::UInt8,   DType::Int32,   DType::Int64,
                                       DType::Float16, DType::Float32, DType::Float64};
        int count = 0;
        for (const graph::ExprId id : model.main().order) {
            if (model.expr(id).op.name != "Where") continue;
            ++count;
            const DType dtype = model.node(model.expr(id).outputs.front()).type.dtype;
            QVERIFY2(std::ranges::find(known, dtype) != known.end(), std::string(tensor::name(dtype)).c_str());
        }
        QCOMPARE(count, static_cast<int>(edits.size()));
    }

    void whatCannotBeWrittenIsNamed_data() {
        QTest::addColumn<QString>("edit");
        QTest::addColumn<int>("rows");
        QTest::addColumn<QString>("part");
        QTest::newRow("reads itself") << "y = y * 2" << 3 << "depends on values of the run";
        QTest::newRow("reads another") << "z[0] = y[0]" << 3 << "depends on values of the run";
        QTest::newRow("slice") << "y[y < 0] = 1" << 3 << "its slice depends on values of the run";
        QTest::newRow("shape") << "y[[0, 2]] = 1" << -1 << "is not fixed";
        QTest::newRow("parts") << "y[1:] remove 1 0 of 2" << -1 << "is not fixed";
        QTest::newRow("noise") << "y noise 1" << -1 << "is not fixed";
    }
    void whatCannotBeWrittenIsNamed() {
        QFETCH(QString, edit);
        QFETCH(int, rows);
        QFETCH(QString, part);
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("linear.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << linearModel(rows);
        Session session;
        QVERIFY(session.open(path).has_value());
        const auto error = make(session, edit.toStdString());
        QVERIFY2(!error, error ? error->c_str() : "");
        const auto edited = session::editedDocument(*session.document(), session.edits());
        QVERIFY(!edited);
        QVERIFY2(edited.error().what.find(part.toStdString()) != std::string::npos, edited.error().what.c_str());
        QVERIFY(edited.error().what.find(edit.left(1).toStdString()) != std::string::npos);
    }

    /// Noise is one number for each element: with the shape of a run it can be written for that one.
    void noiseIsWrittenForTheShapeOfTheRun() {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("linear.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << linearModel(-1);
        Session session;
        QVERIFY(session.open(path).has_value());
        const std::vector<Value> inputs{Tensor::of<float>({3, 2}, {1, -2, 3, 4, 0.1F, -0.7F})};
        session.runs().giveValues(inputs);
        session.debugger().restart();
        for (const char* edit : {"y noise 0.5 3", "z[1:] noise 0.25 4", "x noise 0.1 5"}) {
            const auto error = make(session, edit);
            QVERIFY2(!error, error ? error->c_str() : "");
        }
        const auto types = session::typesOfRun(*session.document(), session.edits(), inputs);
        QVERIFY(types.has_value());
        const std::string wrong = compareWritten(session, folder, inputs, *types);
        QVERIFY2(wrong.empty(), wrong.c_str());
        const auto edited = session::editedDocument(*session.document(), session.edits(), *types);
        QVERIFY(edited.has_value());
        const base::Diagnostic& note = (*edited)->diagnostics.back();
        QVERIFY2(note.what.find("the shape of the run, [3,2]") != std::string::npos, note.what.c_str());
        // As the note says: of another shape there is no noise.
        const auto written = document::open(folder.filePath(QStringLiteral("edited.onnx")).toStdString());
        QVERIFY(written.has_value());
        exec::Runner runner(1);
        const auto plan = exec::Plan::make((*written)->graph, {}).value();
        for (const std::int64_t rows : {1, 2, 6}) {
            const auto x = Tensor::zeros(tensor::DType::Float32, {rows, 2});
            const std::vector<Value> others{Value(*x)};
            QVERIFY(runner.run(*plan, others).error.has_value());
        }
        QVERIFY(!runner.run(*plan, inputs).error);
    }

    /// A model in ATen operators is lowered with its edits.
    void archivesAreWrittenWithTheirEdits() {
        QTemporaryDir folder;
        const std::string models = SONDE_TEST_DATA "/models/";
        Session session;
        QVERIFY(session.open(models + "mlp_functional.trace.pt").has_value());
        const auto cases = session.readCases({models + "mlp_functional.npz", "bgr", 0});
        QVERIFY(cases.has_value());
        session.runs().giveValues(cases->front().values);
        session.debugger().restart();
        // A value in the middle, and a weight inside of a module.
        for (const std::string edit :
             {"relu scale 0.5", "relu noise 0.1 2", "`fc1/weight`[0] zero", "fc2.weight[:, 3] scale -1"}) {
            const auto error = make(session, edit);
            QVERIFY2(!error, error ? error->c_str() : "");
        }
        const auto types = session::typesOfRun(*session.document(), session.edits(), cases->front().values);
        QVERIFY2(types.has_value(), types ? "" : types.error().text().c_str());
        const auto edited = session::editedDocument(*session.document(), session.edits(), *types);
        QVERIFY2(edited.has_value(), edited ? "" : edited.error().text().c_str());
        const std::string path = folder.filePath(QStringLiteral("edited.onnx")).toStdString();
        const auto written =
            exporting::writeExport(**edited, {exporting::ExportFormat::Onnx, {}}, path, cases->front().values);
        QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
        const auto again = document::open(path);
        QVERIFY(again.has_value());
        exec::Runner runner(1);
        const exec::Recording recording =
            runner.run(*exec::Plan::make((*again)->graph, {}).value(), cases->front().values);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        const auto due = session.debugger().value(session.document()->outputs.front().node);
        const auto plain = session.debugger().baselineValue(session.document()->outputs.front().node);
        QVERIFY(due.has_value() && plain.has_value());
        QVERIFY(tensor::identical(recording.outputs.front(), *due));
        QVERIFY(!tensor::identical(*plain, *due));
    }
};

QTEST_GUILESS_MAIN(TestEditedModel)

}  // namespace tst_edited_model

#include "tst_edited_model.moc"
