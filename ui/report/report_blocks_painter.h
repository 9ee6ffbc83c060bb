#pragma once

#include "core/session/report/report.h"
#include "ui/report/page_flow.h"
#include "ui/theme/color_role.h"

namespace sonde::report {

/// Units of the pages: a tenth of a point.
inline constexpr double kPoint = 10;

enum class PageFont { Title, Heading, Subheading, Body, Bold, Small, Fine };
QFont pageFont(PageFont font);

/// Paper is light.
QColor pageInk(theme::ColorRole role);

/// Puts a section's blocks onto pages.
class BlocksPainter {
  public:
    explicit BlocksPainter(PageFlow& flow) : m_flow(flow) {}

    void operator()(const session::ReportText& block);
    void operator()(const session::ReportTable& block);
    void operator()(const session::ReportChart& block);
    void operator()(const session::ReportPicture& block);
    void operator()(const session::ReportFindings& block);

    /// The section's title comes with its first block, onto the page that has room for it. `placed` is told then.
    void beginSection(const QString& title, std::function<void()> placed);
    void endSection();
    /// How much room a block needs below what is before it, which stays on its page; 0: as little as there is.
    double roomFor(const session::ReportBlock& block) const;
    /// What comes behind the next block, and is to be on its page if that one begins a section.
    void expect(double height) { m_expected = height; }

  private:
    /// Before a block that needs so much room on its page.
    void begin(double height);
    /// A heading stays on the page of what it is of.
    void heading(const QString& text, PageFont font) const;
    void note(const std::string& text) const;
    void finding(const session::ReportFinding& finding);

    QString m_title;
    double m_expected = 0;
    std::function<void()> m_placed;  ///< null: the title is on its page
    PageFlow& m_flow;
};

/// Tables: columns as wide as they need, rows over several pages, with the head on each.
void addTable(PageFlow& flow, const session::ReportTable& table);

/// Control characters are made visible.
QString pageText(const std::string& text);

}  // namespace sonde::report
