# One command for each task; `make help` lists them. CMake does the building (see CMakePresets.json
# for debug builds); this file adds the set-up and the defaults.

BUILD  := build
PREFIX ?= /usr/local
SCENE  ?=
OUT    ?=
SCENES ?= ../shared/data/ipc
CODIM  ?= ../shared/data/codim
RIGID  ?= ../shared/data/rigid/fixtures/3D
POLYFEM ?= ../shared/data/highorder
DEPENDENCIES ?= yes
SECONDS ?= 3600
THREADS ?= 1
TRIES   ?= 3

# On a terminal ninja keeps to one line that it overwrites; anywhere else it prints only errors.
NINJA := ninja -C $(BUILD) -j$(shell nproc) $(if $(MAKE_TERMOUT),,--quiet)
# Three at a time on two cores: some tests mostly wait, for a browser above all.
CTEST := ctest --test-dir $(BUILD) -j$$(( $$(nproc) + 1 )) --output-on-failure --no-label-summary
# Folders of tests of what runs in parallel.
PARALLEL := core geometry collision potentials solver verify physics viewer web
SPACE := $(subst ,, )
SOURCES := find src tests bench -name '*.cpp' -o -name '*.hpp'

.PHONY: build cluster run test slow-test bench bench-compare ccd-campaign stress scenes fuzz sanitize sanitize-threads install package docs gallery python install-python format check-format clean help dependencies configure
.SILENT:

build: configure # build the program: build/apart
	$(NINJA) apart

cluster: configure # build the program for many processes, build/apart-mpi, with MPI and PETSc
	[ "$(DEPENDENCIES)" = no ] || scripts/install-dependencies --cluster
	cmake -D APART_CLUSTER=ON $(BUILD) >$(BUILD)/configure.log || { cat $(BUILD)/configure.log; exit 1; }
	ninja -C $(BUILD) -t query apart_cluster >$(BUILD)/cluster.log 2>&1 || \
	  { grep apart-mpi $(BUILD)/configure.log; exit 1; }
	$(NINJA) apart_cluster

run: build # simulate and draw the default example, or SCENE=file-or-name; OUT=directory for the result
	scripts/run-and-render $(BUILD)/apart "$(SCENE)" "$(OUT)"

test: configure # build everything and run the tests
	rm -f $(BUILD)/test.log
	$(NINJA)
	$(call listed,$(CTEST) -LE '^slow$$' --output-log $(BUILD)/test.log,$(BUILD))

slow-test: configure # run the tests that take minutes
	$(NINJA) all slow_programs
	$(call listed,$(CTEST) -L '^slow$$',$(BUILD))

bench: configure # measure kernels and whole scenes: tables here, numbers in build/bench; SCENES=folder as for scenes
	$(if $(findstring command,$(origin SCENES)),cmake -D APART_SCENES="$(abspath $(SCENES))" $(BUILD) >/dev/null)
	$(NINJA) bench

bench-compare: build # measure against the program of another commit: BASE=commit; LIST="scene:steps ..." THREADS=1 TRIES=3
	THREADS="$(THREADS)" TRIES="$(TRIES)" scripts/bench-compare $(BUILD)/apart "$(BASE)" $(LIST)

ccd-campaign: configure # run collision detection on 8 million generated queries: no impact may be missed
	$(NINJA) test_queries
	$(BUILD)/test_queries --gtest_filter='*CcdCampaign*Slow*' --gtest_brief=1

stress: configure # two hundred random scenes that strain the solver, with either formulation of contact: each ends certified or says what is impossible
	$(NINJA) test_stress apart
	$(BUILD)/test_stress --gtest_brief=1

scenes: configure # run and verify the published scenes; SCENES=, CODIM=, RIGID= and POLYFEM=folder; STEPS= BUDGET=seconds ONLY= AGAIN=yes
	$(NINJA) apart apart_scenes
	$(BUILD)/apart_scenes --program $(BUILD)/apart --output $(BUILD)/scenes --scripts "$(SCENES)" \
	  --meshes "$(CODIM)" --fixtures "$(RIGID)" --polyfem "$(POLYFEM)" \
	  $(if $(STEPS),--steps $(STEPS)) $(if $(BUDGET),--budget $(BUDGET)) $(if $(ONLY),--only "$(ONLY)") \
	  $(if $(filter yes,$(AGAIN)),--again)

fuzz: configure # hostile input for every reader of files, with sanitizers: SECONDS=3600 in total; resumes where it stopped
	$(NINJA) apart_fuzz_sanitized
	tests/fuzz/fuzz.sh $(BUILD)/apart_fuzz_sanitized $(SECONDS) $(CURDIR)/$(BUILD)/fuzz/hours

sanitize: # the tests with the address and undefined-behaviour sanitizers; takes an hour or two
	$(call sanitized,sanitize,build-sanitize,all)
	$(call listed,ctest --preset sanitize --no-label-summary --output-log build-sanitize/test.log,build-sanitize)

sanitize-threads: # the tests of what runs in parallel with the thread sanitizer
	$(call sanitized,sanitize-threads,build-threads,$(PARALLEL:%=test_%))
	$(call listed,ctest --test-dir build-threads -j2 --output-on-failure --no-label-summary -LE '^slow$$' \
	  -R '^($(subst $(SPACE),|,$(strip $(PARALLEL))))\.' --output-log build-threads/test.log,build-threads)

install: build # install program, library and CMake package below PREFIX=/usr/local
	cmake --install $(BUILD) --prefix "$(PREFIX)" >$(BUILD)/install.log || { cat $(BUILD)/install.log; exit 1; }
	echo "Installed below $(PREFIX); the list is $(BUILD)/install_manifest.txt"

package: build # build the Debian package of the program: build/apart_VERSION_ARCHITECTURE.deb
	[ "$(DEPENDENCIES)" = no ] || scripts/install-dependencies dpkg-dev
	cd $(BUILD) && cpack -G DEB >package.log 2>&1 || { cat package.log; exit 1; }
	ls $(BUILD)/apart_*.deb

docs: build # build the documentation as a site with search: build/docs/index.html
	[ "$(DEPENDENCIES)" = no ] || scripts/install-dependencies mkdocs
	scripts/make-docs $(BUILD)/apart $(BUILD)/docs

gallery: build # run, prove and film every example: docs/gallery.md; NAMES="..." only these; resumes where it stopped
	scripts/make-gallery $(BUILD)/apart $(BUILD)/gallery docs $(NAMES)

python: configure # build the Python package: build/python/apart
	$(NINJA) python

install-python: python # install it for the interpreter that it was built for
	cmake --install $(BUILD) --component python >$(BUILD)/install-python.log || { cat $(BUILD)/install-python.log; exit 1; }
	sed -n 's/^-- .*: \(.*\/apart\)\/__init__.py$$/Installed in \1/p' $(BUILD)/install-python.log

format: dependencies # format every source file
	$(SOURCES) | xargs clang-format -i

check-format: dependencies # list what is not formatted
	$(SOURCES) | xargs clang-format --dry-run -Werror

clean: # remove the build; results of runs stay
	rm -rf $(BUILD)

help: # this list
	sed -n 's/^\([a-z-]*\):[^#]*# \(.*\)/make \1	\2/p' Makefile | expand -t 24

dependencies: # install missing packages (skipped with DEPENDENCIES=no)
	[ "$(DEPENDENCIES)" = no ] || scripts/install-dependencies

# $(call listed,COMMAND,FOLDER): runs ctest, then lists the tests that were skipped, and why.
define listed
	$(1); status=$$?; scripts/skipped-tests $(2); exit $$status
endef

# $(call sanitized,PRESET,FOLDER,TARGETS): builds a preset, which is configured once.
define sanitized
	[ "$(DEPENDENCIES)" = no ] || scripts/install-dependencies
	mkdir -p $(2)
	[ -f $(2)/build.ninja ] || cmake --preset $(1) >$(2)/configure.log 2>&1 || { cat $(2)/configure.log; exit 1; }
	ninja -C $(2) -j$(shell nproc) $(if $(MAKE_TERMOUT),,--quiet) $(3)
endef

# Once: afterwards ninja notices by itself when it must configure again.
configure: dependencies
	mkdir -p $(BUILD)
	[ -f $(BUILD)/build.ninja ] || cmake --preset release >$(BUILD)/configure.log 2>&1 || \
	  { cat $(BUILD)/configure.log; exit 1; }
