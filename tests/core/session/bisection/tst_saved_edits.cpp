// Models that were saved with edits against the models without: a bisection ends at the edited value and names its
// edit, whichever of both is given first. What the values are follows from the networks, which are small enough for
// paper.

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/analysis/edited_values.h"
#include "core/document/document.h"
#include "core/export/write_export.h"
#include "core/session/bisection/bisection.h"
#include "tests/core/session/edits/edited_file.h"
#include "tests/support/linear_network.h"

namespace tst_saved_edits {

using namespace sonde;
using namespace sonde::session;
using tensor::Tensor;
using DocumentPtr = std::shared_ptr<const document::Document>;
namespace onnx = test::onnxfile;

namespace {

std::vector<tensor::Value> square() { return {tensor::Value(Tensor::of<float>({2, 2}, {1, 2, 3, 4}))}; }

/// y = relu(x); d = −x, e = |d| and f = x · v reach no output, and nothing reads u and k.
std::string withUnread() {
    const onnx::Graph graph{
        {{"Relu", {"x"}, {"y"}}, {"Neg", {"x"}, {"d"}}, {"Abs", {"d"}, {"e"}}, {"MatMul", {"x", "v"}, {"f"}}},
        {onnx::valueInfo("x", 1, {2, 2}), onnx::valueInfo("u", 1, {2, 2})},
        {onnx::valueInfo("y", 1, {2, 2})},
        {onnx::rawTensor("v", 1, {2, 2}, test::floatBytes({1, 0, 0, 1})),
         onnx::rawTensor("k", 1, {2}, test::floatBytes({1, 2}))}};
    return onnx::model(graph);
}

nlohmann::ordered_json jsonOf(const bisection::Outcome& found) {
    nlohmann::ordered_json json;
    bisection::addOutcome(json, found, nullptr);
    return json;
}

}  // namespace

class TestSavedEdits : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void bothOrdersEndAtTheEdit_data();
    void bothOrdersEndAtTheEdit();
    void bothModelsHaveEdits_data();
    void bothModelsHaveEdits();
    void severalEditsAreFoundOneByOne();
    void editedWeightsAreNamed_data();
    void editedWeightsAreNamed();
    void anEditedInputHasNoPiece();
    void namesAloneAreEnough();
    void whatNothingReadsIsSaid_data();
    void whatNothingReadsIsSaid();

  private:
    /// The model without and with the edits, the latter from its file.
    std::pair<DocumentPtr, DocumentPtr> saved(const std::string& model, const QStringList& lines,
                                              bool keepsMarks = true) {
        const QDir folder(m_files.filePath(QString::number(++m_count)));
        if (!folder.mkpath(QStringLiteral("."))) return {};
        const std::string plain = folder.filePath(QStringLiteral("plain.onnx")).toStdString();
        const std::string edited = folder.filePath(QStringLiteral("edited.onnx")).toStdString();
        if (!onnx::write(QString::fromStdString(plain), model)) return {};
        Session session;
        if (!session.open(plain)) return {};
        for (const QString& line : lines)
            if (const auto error = test::edits::make(session, line.toStdString())) {
                qWarning("%s", error->c_str());
                return {};
            }
        auto made = editedDocument(*session.document(), session.edits());
        if (!made) return {};
        if (!keepsMarks) {
            auto graph = std::make_shared<graph::InternalGraph>(*(*made)->graph);
            for (std::size_t i = 0; i < graph->exprCount(); ++i) graph->mutableExpr(graph::ExprId(i)).origins.clear();
            auto copy = std::make_shared<document::Document>(**made);
            copy->graph = std::move(graph);
            return {session.document(), copy};
        }
        if (!exporting::writeExport(**made, {exporting::ExportFormat::Onnx, {}}, edited, {})) return {};
        const auto again = document::open(edited);
        return {session.document(), again ? *again : nullptr};
    }
    base::Result<bisection::Outcome> bisect(const DocumentPtr& a, const DocumentPtr& b, std::size_t inputs = 1) {
        std::vector<tensor::Value> values = square();
        while (values.size() < inputs) values.push_back(values.front());
        return bisection::bisect({a, values}, bisection::OtherModel{b});
    }

    QTemporaryDir m_files;
    int m_count = 0;
};

void TestSavedEdits::bothOrdersEndAtTheEdit_data() {
    QTest::addColumn<QStringList>("edits");
    QTest::addColumn<QString>("node");
    const auto row = [](const QStringList& edits, const char* node) {
        QTest::newRow(qPrintable(edits.join(QStringLiteral("; ")))) << edits << node;
    };
    row({"x scale 2"}, "x");
    row({"x[0] zero"}, "x");
    row({"x[0, 1] = 7"}, "x");
    row({"x swap 1 0 1"}, "x");
    row({"x noise 0.5 3"}, "x");
    row({"x scale 2", "x[1] zero"}, "x");
    row({"y scale 2"}, "y");
    row({"y[0, 1] = 7"}, "y");
    row({"y scale 0.5", "y[1, 1] = 3"}, "y");
    row({"z zero"}, "z");
    row({"z remove 1 0"}, "z");
    row({"s scale -1"}, "s");  // an output
    row({"t[1] = 5"}, "t");
}

void TestSavedEdits::bothOrdersEndAtTheEdit() {
    QFETCH(QStringList, edits);
    QFETCH(QString, node);
    const auto [plain, edited] = saved(test::linearNetwork(), edits);
    QVERIFY(plain && edited);
    for (const bool isEditedFirst : {false, true}) {
        const auto found = isEditedFirst ? bisect(edited, plain) : bisect(plain, edited);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        QVERIFY(found->found.differs);
        const auto json = jsonOf(*found);
        QCOMPARE(QString::fromStdString(json["node"].get<std::string>()), node);
        QVERIFY2(json["edit"].is_string(), json.dump().c_str());
        QCOMPARE(QString::fromStdString(json["edit"].get<std::string>()), node);
        QCOMPARE(json["all"].size(), std::size_t{1});
        QCOMPARE(json["matched"].get<double>() > 0, true);
        QVERIFY(found->found.runs <= 2);
        const std::string text = bisection::outcomeText(*found, nullptr);
        QVERIFY2(text.starts_with(node.toStdString() + " (by its edit) differs"), text.c_str());
        if (isEditedFirst) {
            // The part is what the edit was written as, from the value before it.
            QCOMPARE(json["from"].size(), std::size_t{1});
            for (const auto& operation : json["operations"])
                QVERIFY2(operation["node"].get<std::string>().starts_with(node.toStdString()),
                         operation.dump().c_str());
        }
    }
}

/// y = 2 x · w, s = 3 (z + c): both differ by themselves, the first is the one.
void TestSavedEdits::bothModelsHaveEdits_data() {
    QTest::addColumn<QStringList>("first");
    QTest::addColumn<QStringList>("second");
    QTest::addColumn<QString>("node");
    const auto row = [](const char* title, const QStringList& first, const QStringList& second, const char* node) {
        QTest::newRow(title) << first << second << node;
    };
    // What their operations are called and do inside is no matter: it is the value after them that differs.
    row("other elements of an input", {"x[0, 1] = 7"}, {"x[1] = 5"}, "x");
    row("another number", {"x[0] = 7"}, {"x[0] = 5"}, "x");
    row("one edit more of an input", {"x[0] = 7"}, {"x[0] = 7", "x scale 3"}, "x");
    row("of a value", {"y[0, 1] = 7"}, {"y scale 2"}, "y");
    // The edit that only one has, not the one before it that both have.
    row("a later value as well", {"x scale 2", "y scale 2"}, {"x scale 2"}, "y");
    row("an earlier value as well", {"x scale 2", "z zero"}, {"z zero"}, "x");
}

void TestSavedEdits::bothModelsHaveEdits() {
    QFETCH(QStringList, first);
    QFETCH(QStringList, second);
    QFETCH(QString, node);
    const DocumentPtr a = saved(test::linearNetwork(), first).second, b = saved(test::linearNetwork(), second).second;
    QVERIFY(a && b);
    for (const bool isTurned : {false, true}) {
        const auto found = isTurned ? bisect(b, a) : bisect(a, b);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        const auto json = jsonOf(*found);
        QVERIFY2(found->found.differs, json.dump().c_str());
        QVERIFY2(json["edit"].is_string() && json["edit"].get<std::string>() == node.toStdString(),
                 json.dump().c_str());
        QCOMPARE(QString::fromStdString(json["node"].get<std::string>()), node);
        QCOMPARE(json["all"].size(), std::size_t{1});
    }
}

void TestSavedEdits::severalEditsAreFoundOneByOne() {
    const auto [plain, edited] = saved(test::linearNetwork(), {"y scale 2", "s scale 3"});
    QVERIFY(plain && edited);
    for (const bool isEditedFirst : {false, true}) {
        const auto found = isEditedFirst ? bisect(edited, plain) : bisect(plain, edited);
        QVERIFY(found && found->found.differs);
        const auto json = jsonOf(*found);
        QCOMPARE(json["edit"].get<std::string>(), std::string("y"));
        QCOMPARE(json["all"], (nlohmann::ordered_json{"y", "s"}));
    }
}

/// y = x · w with w = [[1, 0], [0, 1]], s = z + c with c = [10, 20].
void TestSavedEdits::editedWeightsAreNamed_data() {
    QTest::addColumn<QStringList>("first");
    QTest::addColumn<QStringList>("second");
    QTest::addColumn<QString>("node");
    QTest::addColumn<QString>("weight");
    QTest::addColumn<double>("apart");
    const auto row = [](const char* title, const QStringList& first, const QStringList& second, const char* node,
                        const char* weight,
                        double apart) { QTest::newRow(title) << first << second << node << weight << apart; };
    row("scaled", {}, {"w scale 3"}, "y", "w", 2);
    row("an element", {}, {"c[1] = 26"}, "s", "c", 6);
    row("zero", {}, {"c zero"}, "s", "c", 20);
    row("twice", {}, {"w scale 2", "w[0, 0] = 7"}, "y", "w", 6);
    row("both, one more", {"w scale 2"}, {"w scale 2", "c[0] = 11"}, "s", "c", 1);
    row("both, other numbers", {"w scale 2"}, {"w scale 5"}, "y", "w", 3);
}

void TestSavedEdits::editedWeightsAreNamed() {
    QFETCH(QStringList, first);
    QFETCH(QStringList, second);
    QFETCH(QString, node);
    QFETCH(QString, weight);
    QFETCH(double, apart);
    const auto [plain, b] = saved(test::linearNetwork(), second);
    const DocumentPtr a = first.isEmpty() ? plain : saved(test::linearNetwork(), first).second;
    QVERIFY(a && b);
    for (const bool isTurned : {false, true}) {
        const auto found = isTurned ? bisect(b, a) : bisect(a, b);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        const auto json = jsonOf(*found);
        QVERIFY2(found->found.differs && json["edit"].is_string(), json.dump().c_str());
        QCOMPARE(QString::fromStdString(json["node"].get<std::string>()), node);
        QCOMPARE(QString::fromStdString(json["edit"].get<std::string>()), weight);
        QCOMPARE(json["weights"].size(), std::size_t{1});
        const auto& differing = json["weights"].front();
        QCOMPARE(QString::fromStdString(differing["node"].get<std::string>()), weight);
        QCOMPARE(differing["max_abs"].get<double>(), apart);
        QVERIFY(differing["edited"].get<bool>());
        const std::string text = bisection::outcomeText(*found, nullptr);
        QVERIFY2(text.starts_with(node.toStdString() + " (by the edit of " + weight.toStdString() + ") differs"),
                 text.c_str());
    }
}

void TestSavedEdits::anEditedInputHasNoPiece() {
    const auto [plain, edited] = saved(test::linearNetwork(), {"x scale 2"});
    QVERIFY(plain && edited);
    const auto found = bisect(plain, edited);
    QVERIFY(found && found->found.differs);
    QVERIFY(!bisection::hasPiece(*found));
    QCOMPARE(found->otherNode, std::string("x_edit"));
    QCOMPARE(bisection::writePiece(*found, m_files.filePath("piece.onnx").toStdString()).error().kind,
             base::ErrorKind::Usage);
    const auto at = bisection::farthestElement(*found);
    QVERIFY(at);
    QCOMPARE(at->own, 4.0);
    QCOMPARE(at->other, 8.0);
    const auto reversed = bisect(edited, plain);
    QVERIFY(reversed && bisection::hasPiece(*reversed));
    const auto written = bisection::writePiece(*reversed, m_files.filePath("piece.onnx").toStdString());
    QVERIFY2(written, written ? "" : written.error().text().c_str());
    QCOMPARE(written->maxAbsolute, 0.0);
}

/// As in a model that was saved in a format that keeps no marks of edits.
void TestSavedEdits::namesAloneAreEnough() {
    const auto [plain, edited] = saved(test::linearNetwork(), {"y scale 2"}, false);
    QVERIFY(plain && edited);
    const auto values = analysis::editedValues(*edited->graph);
    QCOMPARE(values.size(), std::size_t{1});
    QCOMPARE(values.front().name, std::string("y"));
    QCOMPARE(edited->graph->node(values.front().before).name, std::string("y_before_edits"));
    for (const bool isEditedFirst : {false, true}) {
        const auto found = isEditedFirst ? bisect(edited, plain) : bisect(plain, edited);
        QVERIFY(found && found->found.differs);
        QCOMPARE(jsonOf(*found)["node"].get<std::string>(), std::string("y"));
    }
}

void TestSavedEdits::whatNothingReadsIsSaid_data() {
    QTest::addColumn<QString>("edit");
    QTest::addColumn<QString>("note");
    QTest::newRow("input") << "u scale 2"
                           << "the edit of 'u' in edited.onnx is read by nothing";
    QTest::newRow("last value") << "e scale 2"
                                << "the edit of 'e' in edited.onnx is read by nothing";
    QTest::newRow("leads nowhere") << "d scale 2"
                                   << "the edit of 'd' in edited.onnx reaches no output";
    QTest::newRow("weight") << "k scale 2"
                            << "the edit of 'k' in edited.onnx is read by nothing";
    QTest::newRow("weight that leads nowhere") << "v scale 2"
                                               << "the edit of 'v' in edited.onnx reaches no output";
    QTest::newRow("output") << "y scale 1" << QString();
}

void TestSavedEdits::whatNothingReadsIsSaid() {
    QFETCH(QString, edit);
    QFETCH(QString, note);
    const auto [plain, edited] = saved(withUnread(), {edit});
    QVERIFY(plain && edited);
    for (const bool isEditedFirst : {false, true}) {
        const auto found = isEditedFirst ? bisect(edited, plain, 2) : bisect(plain, edited, 2);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        QVERIFY(!found->found.differs);
        QStringList notes;
        const auto json = jsonOf(*found);
        for (const auto& one : json["notes"]) notes << QString::fromStdString(one.get<std::string>());
        QCOMPARE(notes, note.isEmpty() ? QStringList() : QStringList{note});
    }
}

QTEST_GUILESS_MAIN(TestSavedEdits)

}  // namespace tst_saved_edits

#include "tst_saved_edits.moc"
