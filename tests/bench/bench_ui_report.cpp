// How long an audit report takes, for a model file (by default the largest of the reference models) and for a generated
// one of 100,000 nodes: `bench_ui_report [MODEL]`. Less than 20 s is the aim, the run of the model among it.

#include <QGuiApplication>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "core/document/document.h"
#include "core/session/read_inputs.h"
#include "core/session/report/audit_report.h"
#include "tests/bench/audit_models.h"
#include "ui/report/graph_pictures.h"
#include "ui/report/report_pdf.h"

using namespace sonde;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void measure(const std::string& model) {
    const auto begin = Clock::now();
    const auto document = document::open(model, {});
    if (!document) return std::printf("%s: %s\n", model.c_str(), document.error().text().c_str()), void();
    const double opened = secondsSince(begin);
    session::AuditRequest request;
    if (const auto cases = session::readCases(**document, {})) request.findings.cases = {cases->front().values};
    report::GraphPictures pictures(*document);
    request.picture = [&](const std::string& qualname, const base::WorkContext& work) {
        return pictures.svg(qualname, work);
    };
    const auto before = Clock::now();
    const auto made = session::auditReport(**document, request);
    if (!made) return std::printf("%s: %s\n", model.c_str(), made.error().text().c_str()), void();
    const double audited = secondsSince(before);
    const auto html = Clock::now();
    const std::size_t htmlBytes = session::reportHtml(*made).size();
    const double written = secondsSince(html);
    const auto pdf = Clock::now();
    const auto pages = report::reportPdf(*made);
    std::printf("%-40s open %6.2f s  report %6.2f s  HTML %6.3f s (%zu KB)  PDF %6.2f s (%lld KB)\n",
                std::filesystem::path(model).filename().c_str(), opened, audited, written, htmlBytes >> 10,
                secondsSince(pdf), pages ? static_cast<long long>(pages->size()) >> 10 : 0);
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QGuiApplication application(argc, argv);
    const std::string model = argc > 1 ? argv[1] : audit_models::largest();
    if (!model.empty()) measure(model);
    const std::string path = (std::filesystem::temp_directory_path() / "bench_ui_report.onnx").string();
    if (test::onnxfile::write(QString::fromStdString(path), audit_models::generated(100'000))) measure(path);
    std::filesystem::remove(path);
    return 0;
}
