// What a preview of an export finds: sizes, errors and times of forms of a small model. Values are worked by hand.

#include <QDir>
#include <QFileInfo>
#include <QtTest>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/document/document.h"
#include "core/export/write_export.h"
#include "core/session/export_preview.h"
#include "tests/support/small_dump.h"

namespace tst_export_preview {

using namespace sonde;
using session::ExportMeasure;
using session::ExportPreview;
using test::Tensor;
using test::Value;

namespace {

std::shared_ptr<const document::Document> smallModel() {
    return std::make_shared<const document::Document>(test::productDocument());
}

std::vector<Value> row(std::vector<float> values) {
    return {Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values)};
}

/// A form that writes a dump of the same model with its constant multiplied.
document::ExportForm scaledForm(float scale) {
    return {"scaled",
            [scale](const std::filesystem::path& path,
                    const base::WorkContext&) -> base::Result<document::ExportForm::Files> {
                test::Maker maker;
                document::Document document;
                const test::NodeId x = maker.floats("x", {4});
                const test::NodeId factors =
                    maker.constant("factors", Tensor::of<float>({4}, {1 * scale, 2 * scale, 3 * scale, 4 * scale}));
                maker.result(
                    maker.call("sum", "aten::add.Tensor", maker.call("product", "aten::mul.Tensor", x, factors), x));
                document.inputs.push_back({"x", x});
                document.outputs.push_back({"out", maker.graph.outputs().front()});
                document.graph = std::make_shared<test::InternalGraph>(maker.graph);
                SONDE_TRY(exporting::writeExport(document, {}, path));
                return document::ExportForm::Files{{path}, {}};
            }};
}

/// `factors` · x, and how many elements x has, as a number.
document::Document countedDocument(const std::vector<float>& factors) {
    test::Maker maker;
    document::Document document;
    const test::NodeId x = maker.floats("x", {4});
    const auto count = static_cast<std::int64_t>(factors.size());
    const test::NodeId product =
        maker.call("product", "aten::mul.Tensor", x, maker.constant("factors", Tensor::of<float>({count}, factors)));
    const test::NodeId size = maker.call("size", "aten::size.int", x, 0);
    maker.result(test::tuple({test::arg(product), test::arg(size)}));
    document.inputs.push_back({"x", x});
    document.outputs = {{"out", product}, {"count", size}};
    document.graph = std::make_shared<test::InternalGraph>(maker.graph);
    return document;
}

document::ExportForm countedForm(const std::vector<float>& factors) {
    return {"counted",
            [factors](const std::filesystem::path& path,
                      const base::WorkContext&) -> base::Result<document::ExportForm::Files> {
                SONDE_TRY(exporting::writeExport(countedDocument(factors), {}, path));
                return document::ExportForm::Files{{path}, {}};
            }};
}

QStringList leftFolders() { return QDir::temp().entryList({QStringLiteral("sonde-export-*")}, QDir::Dirs); }

}  // namespace

class TestExportPreview : public QObject {
    Q_OBJECT

  private slots:
    void theSameModelHasNoError();
    void errorsAreThoseOfTheFormula();
    void outputsThatAreNoTensorsHideNoError();
    void halfPrecisionRounds();
    void whatFailsIsToldInItsRow();
    void aModelThatCannotRunIsStillMeasured();
    void theModelsFileCountsOnce();
    void cancelled();
    void textAndJson();
    void timesHaveNoExponent();
};

void TestExportPreview::theSameModelHasNoError() {
    const QStringList before = leftFolders();
    const auto document = smallModel();
    const auto inputs = row({10, 20, 30, 40});
    const auto forms = exporting::exportForms(document, {}, inputs);
    QCOMPARE(forms.size(), std::size_t(4));
    std::vector<std::string> told;
    base::WorkContext work;
    work.progress = [&told](const base::Progress& now) { told.push_back(now.what); };
    const auto preview = session::previewExport(*document, inputs, forms, 1, work);
    QVERIFY2(preview.has_value(), preview ? "" : preview.error().text().c_str());
    QCOMPARE(preview->threads, std::size_t(1));
    QCOMPARE(preview->model.operations, std::size_t(2));
    QCOMPARE(preview->model.weightBytes, std::uint64_t(16));
    QCOMPARE(preview->model.fileBytes, std::uint64_t(0));
    QVERIFY(preview->model.ns && *preview->model.ns > 0);
    for (const ExportMeasure& form : preview->forms) {
        QVERIFY2(!form.error, form.error ? form.error->text().c_str() : "");
        QCOMPARE(form.operations, std::size_t(2));
        QCOMPARE(form.weightBytes, std::uint64_t(16));
        QVERIFY(form.fileBytes > 16);
        QVERIFY(form.ns && *form.ns > 0);
        QCOMPARE(form.outputs.size(), std::size_t(1));
        QCOMPARE(form.largestError(), 0.0);
        QVERIFY(std::ranges::find(told, form.label) != told.end());
    }
    QCOMPARE(leftFolders(), before);
}

/// On x = (1, 1, 0, 0.25) the model gives (2, 3, 0, 1.25), with twice the constant (3, 5, 0, 2.25). The errors are
/// 1/2, 2/3, 0 and 1/1.25.
void TestExportPreview::errorsAreThoseOfTheFormula() {
    const std::vector<document::ExportForm> forms{scaledForm(2)};
    const auto preview = session::previewExport(*smallModel(), row({1, 1, 0, 0.25F}), forms, 1);
    QVERIFY(preview.has_value());
    const ExportMeasure& form = preview->forms.front();
    QVERIFY2(!form.error, form.error ? form.error->text().c_str() : "");
    QCOMPARE(form.outputs.front().name, std::string("out"));
    QCOMPARE(form.largestError(), 0.8);
    QCOMPARE(form.largestAbsolute(), 2.0);
    // NaN where the model has NaN is no error, elsewhere it is infinite: 0 · NaN.
    const std::vector<document::ExportForm> same{scaledForm(1)}, other{scaledForm(std::nanf(""))};
    QCOMPARE(session::previewExport(*smallModel(), row({1, std::nanf(""), 0, 0}), same, 1)->forms[0].largestError(),
             0.0);
    QCOMPARE(session::previewExport(*smallModel(), row({1, 1, 1, 1}), other, 1)->forms[0].largestError(),
             std::numeric_limits<double>::infinity());
}

/// 2, 2, 3, 4 instead of 1, 2, 3, 4 is 1/1 apart; the count is 4 in both. What cannot be compared counts for nothing.
void TestExportPreview::outputsThatAreNoTensorsHideNoError() {
    const document::Document model = countedDocument({1, 2, 3, 4});
    const std::vector<document::ExportForm> forms{countedForm({2, 2, 3, 4})};
    const auto preview = session::previewExport(model, row({1, 1, 1, 1}), forms, 1);
    QVERIFY(preview.has_value());
    const ExportMeasure& form = preview->forms.front();
    QVERIFY2(!form.error, form.error ? form.error->text().c_str() : "");
    QCOMPARE(form.outputs.size(), std::size_t(2));
    QCOMPARE(form.outputs[1].name, std::string("count"));
    QCOMPARE(form.outputs[1].error, 0.0);
    QCOMPARE(form.largestError(), 1.0);
    ExportMeasure measure;
    const double unknown = std::nan("");
    measure.outputs = {{"text", unknown, unknown, "str is not compared"}};
    QVERIFY(std::isnan(measure.largestError()) && std::isnan(measure.largestAbsolute()));
    measure.outputs.push_back({"out", 0.25, 0.5, {}});
    QCOMPARE(measure.largestError(), 0.25);
    QCOMPARE(measure.largestAbsolute(), 0.5);
}

/// float16 has 11 bits: 1.0005 becomes 1.0 or 1.0009765625, so that 2 · x is 0.001 or 0.00095 apart.
void TestExportPreview::halfPrecisionRounds() {
    exporting::ExportChoice choice;
    QVERIFY(choice.set("enable_ioc16", "true").has_value());
    const auto document = smallModel();
    const auto inputs = row({1.0005F, 0, 0, 0});
    const auto preview = session::previewExport(*document, inputs, exporting::exportForms(document, choice, inputs), 1);
    QVERIFY(preview.has_value());
    const ExportMeasure& half = preview->forms.back();
    QVERIFY2(!half.error, half.error ? half.error->text().c_str() : "");
    QCOMPARE(half.label, std::string("Values and arithmetic in float16"));
    QVERIFY(half.largestError() > 1e-4 && half.largestError() < 2e-3);
    QCOMPARE(half.weightBytes, std::uint64_t(8));
    QCOMPARE(half.outputs.front().note, std::string("float16[4] instead of float32[4]"));
}

void TestExportPreview::whatFailsIsToldInItsRow() {
    const document::ExportForm broken{
        "broken",
        [](const std::filesystem::path&, const base::WorkContext&) -> base::Result<document::ExportForm::Files> {
            return base::usageError("no such form");
        }};
    const document::ExportForm unreadable{
        "unreadable",
        [](const std::filesystem::path& path, const base::WorkContext&) -> base::Result<document::ExportForm::Files> {
            std::ofstream(path) << "no model";
            return document::ExportForm::Files{{path}, {}};
        }};
    const std::vector<document::ExportForm> forms{broken, unreadable, scaledForm(1)};
    const auto preview = session::previewExport(*smallModel(), row({1, 2, 3, 4}), forms, 1);
    QVERIFY(preview.has_value());
    QCOMPARE(preview->forms[0].error->what, std::string("no such form"));
    QVERIFY(std::isnan(preview->forms[0].largestError()));
    QVERIFY(preview->forms[1].error.has_value());
    QCOMPARE(preview->forms[1].fileBytes, std::uint64_t(8));
    QVERIFY(!preview->forms[2].error);
    QCOMPARE(preview->forms[2].largestError(), 0.0);
}

void TestExportPreview::aModelThatCannotRunIsStillMeasured() {
    const std::vector<document::ExportForm> forms{scaledForm(1)};
    const auto preview = session::previewExport(*smallModel(), {}, forms, 1);
    QVERIFY(preview.has_value());
    QVERIFY(preview->model.error.has_value());
    QVERIFY(!preview->model.ns);
    QCOMPARE(preview->forms.front().operations, std::size_t(2));
    QVERIFY(preview->forms.front().outputs.empty());
}

/// The file of an ONNX model is the opened one and the one that its weights are mapped from.
void TestExportPreview::theModelsFileCountsOnce() {
    const QString file = QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional.onnx");
    const auto document = document::open(file.toStdString());
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    const auto preview = session::previewExport(**document, {}, {}, 1);
    QVERIFY(preview.has_value());
    QCOMPARE(preview->model.fileBytes, static_cast<std::uint64_t>(QFileInfo(file).size()));
}

void TestExportPreview::cancelled() {
    std::stop_source stop;
    base::WorkContext work;
    work.stop = stop.get_token();
    bool isWritten = false;
    const document::ExportForm stopping{
        "stopping",
        [&](const std::filesystem::path&, const base::WorkContext&) -> base::Result<document::ExportForm::Files> {
            stop.request_stop();
            return base::usageError("not written");
        }};
    const document::ExportForm later{
        "later",
        [&](const std::filesystem::path&, const base::WorkContext&) -> base::Result<document::ExportForm::Files> {
            isWritten = true;
            return base::usageError("not written");
        }};
    const std::vector<document::ExportForm> forms{stopping, later};
    const auto preview = session::previewExport(*smallModel(), row({1, 2, 3, 4}), forms, 1, work);
    QVERIFY(!preview);
    QCOMPARE(preview.error().kind, base::ErrorKind::Cancelled);
    QVERIFY(!isWritten);
}

void TestExportPreview::textAndJson() {
    ExportPreview preview;
    preview.threads = 2;
    preview.model.label = "net";
    preview.model.operations = 1234;
    preview.model.ns = 1'500'000;
    ExportMeasure form;
    form.label = "As it is";
    form.operations = 7;
    form.weightBytes = 2048;
    form.fileBytes = 4096;
    form.ns = 2'000'000;
    form.outputs = {{"out", 0.25, 0.5, "float16[1] instead of float32[1]"}};
    ExportMeasure failed;
    failed.label = "Layout";
    failed.error = base::usageError("it does not fit", "conv");
    preview.forms = {form, failed};
    QCOMPARE(preview.text(), std::string("form      operations  weights     file  largest error    time\n"
                                         "net            1,234        -        -                 1.5 ms\n"
                                         "As it is           7  2.0 KiB  4.0 KiB           0.25    2 ms\n"
                                         "Layout             -        -        -              -       -\n"
                                         "As it is: out: float16[1] instead of float32[1]\n"
                                         "Layout: it does not fit (conv)\n"));
    const auto json = nlohmann::json::parse(preview.json());
    QCOMPARE(json["threads"].get<int>(), 2);
    QCOMPARE(json["model"]["run_ms"].get<double>(), 1.5);
    QCOMPARE(json["forms"][0]["file_bytes"].get<int>(), 4096);
    QCOMPARE(json["forms"][0]["max_error"].get<double>(), 0.25);
    QCOMPARE(json["forms"][0]["outputs"][0]["max_abs"].get<double>(), 0.5);
    QVERIFY(json["forms"][1]["max_error"].is_null() && json["forms"][1]["run_ms"].is_null());
    QCOMPARE(json["forms"][1]["problem"].get<std::string>(), std::string("it does not fit (conv)"));
}

void TestExportPreview::timesHaveNoExponent() {
    ExportMeasure measure;
    QCOMPARE(measure.timeText(), std::string());
    for (const auto& [ns, text] : std::vector<std::pair<std::int64_t, std::string>>{{12'345, "0.0123 ms"},
                                                                                    {856'400'000, "856 ms"},
                                                                                    {999'600'000, "1,000 ms"},
                                                                                    {1'043'000'000, "1,043 ms"},
                                                                                    {61'500'000'000, "61,500 ms"}}) {
        measure.ns = ns;
        QCOMPARE(measure.timeText(), text);
    }
}

QTEST_GUILESS_MAIN(TestExportPreview)

}  // namespace tst_export_preview

#include "tst_export_preview.moc"
